"""An agent that speaks the Agent Client Protocol as the test wants it to. Its first argument says how."""

import json
import os
import subprocess
import sys
import time

HOW = sys.argv[1]
SESSION = "session-1"


def write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request, result):
    write({"id": request["id"], "result": result})


def refuse(request, code, message, data=None):
    write({"id": request["id"], "error": {"code": code, "message": message, "data": data}})


def update(what, session=SESSION, **fields):
    write({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": what, **fields}}})


def say(text, **fields):
    update("agent_message_chunk", content={"type": "text", "text": text}, **fields)


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method, params, id="mine"):
    write({"id": id, "method": method, "params": params})
    while True:
        message = read()
        if message.get("id") == id and "method" not in message:
            return message


def end(request, reason="end_turn", **fields):
    answer(request, {"stopReason": reason, **fields})


def permission(kinds, tool):
    options = [{"optionId": f"{kind}-id", "name": kind, "kind": kind} for kind in kinds]
    return ask("session/request_permission", {"sessionId": SESSION, "toolCall": tool, "options": options})


def honest(request):
    update("agent_thought_chunk", content={"type": "text", "text": "hm"})
    say("I will ", messageId="1")
    say("write it.", messageId="1")
    update("plan", entries=[{"content": "write", "priority": "high", "status": "in_progress"}])
    tool = {"toolCallId": "a", "title": "Write a.txt", "kind": "edit", "status": "pending"}
    update("tool_call", **tool)
    told = permission(["reject_once", "allow_always", "allow_once"], tool)
    update("tool_call_update", toolCallId="a", status="in_progress")
    update("tool_call_update", toolCallId="a", status="completed", title="Wrote a.txt")
    update("tool_call_update", toolCallId="a", rawOutput="more about what is over")
    # Told only when it is over, as one of the real ones does.
    update("tool_call_update", toolCallId="b", status="failed", title="Run it", kind="execute")
    update("tool_call", toolCallId="c", title="never ends", kind="fetch", status="in_progress")
    say("of another session", session="other")
    update("something_new", field=1)
    update("usage_update", used=7, size=100)
    say("Told: " + json.dumps(told["result"]["outcome"], sort_keys=True), messageId="2")
    end(request, usage={"totalTokens": 12, "inputTokens": 9, "outputTokens": 2, "cachedReadTokens": 1})


def prompted(request):
    text = request["params"]["prompt"][0]["text"]
    if HOW == "honest":
        honest(request)
    elif HOW == "echo":
        say(text)
        end(request)
    elif HOW == "broken":
        print('{"jsonrpc": "2.0", "id": 3, "res', flush=True)
        time.sleep(600)
    elif HOW == "noisy":
        print("Welcome!\n\n[1, 2]\nnull", flush=True)
        write({"id": 4711, "result": {"stopReason": "refusal"}})
        write({"id": "strange", "result": {}})
        write({"neither": True})
        end(request)
    elif HOW == "endless-noise":
        while True:
            print("noise", flush=True)
    elif HOW == "huge":
        print('{"jsonrpc": "2.0", "method": "' + "x" * 9_000_000, flush=True)
        time.sleep(600)
    elif HOW == "dies":
        say("before")
        print("I have no more room", file=sys.stderr, flush=True)
        os._exit(3)
    elif HOW == "closes":
        os.close(1)
        time.sleep(600)
    elif HOW == "silent":
        subprocess.Popen(["sleep", "600"], start_new_session=True)
        print("thinking for ever", file=sys.stderr, flush=True)
        time.sleep(600)
    elif HOW == "silent-tool":
        update("tool_call", toolCallId="a", title="build", kind="execute", status="in_progress")
        time.sleep(600)
    elif HOW == "polite":
        update("tool_call", toolCallId="a", title="build", kind="execute", status="in_progress")
        while read().get("method") != "session/cancel":
            pass
        say("stopped")
        told = permission(["allow_once"], {"toolCallId": "a", "title": "one more", "kind": "execute"})
        say(" " + told["result"]["outcome"]["outcome"])
        end(request, "cancelled")
    elif HOW == "curious":
        codes = [ask(method, {}, id=[method])["error"]["code"] for method in ["fs/read_text_file", "terminal/create", "x/y"]]
        say(json.dumps(codes))
        told = permission(["allow_once"], {"toolCallId": 1})
        say(json.dumps(told["result"]["outcome"]))
        end(request)
    elif HOW == "asks":
        tools = [{"kind": "edit"}, {"kind": "execute"}, {"kind": "fetch"}, {"name": "mcp__longhaul__complete_step"}, {"name": "other"}]
        for tool in tools:
            told = permission(["allow_always", "allow_once", "reject_once"], {"toolCallId": "a", "title": "t", **tool})
            say(told["result"]["outcome"]["optionId"] + " ")
        end(request)
    elif HOW == "flood":
        for number in range(3000):
            say("x" * 1000)
            update("tool_call", toolCallId=str(number), title="t" * 10_000, kind="read", status="completed")
        for number in range(300):
            update("tool_call", toolCallId=f"open-{number}", title="open", kind="read", status="pending")
        say("the end")
        end(request)
    elif HOW == "refuses":
        refuse(request, -32603, "Internal error", {"details": "no credit"})
    elif HOW == "strange-end":
        end(request, "because")
    else:
        end(request, HOW)


def chatter():
    while True:
        update("usage_update", used=1, size=2)
        time.sleep(0.01)


def hello(request):
    capabilities = {"loadSession": HOW in ("loads", "forgets"), "sessionCapabilities": {}}
    if HOW == "resumes":
        capabilities["sessionCapabilities"]["resume"] = {}
    ways = [
        {"id": "browser", "name": "Log in with a browser"},
        {"id": "key", "name": "Use AGENT_KEY", "type": "env_var", "vars": [{"name": "AGENT_KEY"}]},
    ]
    version = 2 if HOW == "version" else request["params"]["protocolVersion"]
    answer(request, {"protocolVersion": version, "agentCapabilities": capabilities, "authMethods": ways})


def new(request, is_logged_in):
    if HOW == "login" and not is_logged_in:
        return refuse(request, -32000, "Authentication required")
    select = {"name": "n", "type": "select", "currentValue": "small"}
    values = [{"value": value, "name": value} for value in ("small", "large")]
    answer(request, {
        "sessionId": SESSION,
        "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "free", "name": "Free"}]},
        "configOptions": [{"id": "which", "category": "model", "options": values, **select}] if HOW == "options" else None,
        "models": {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "large"}]},
    })


def main():
    seen, is_logged_in = [], False
    if HOW == "mute":
        time.sleep(600)
    if HOW == "chatters":
        chatter()
    while True:
        request = read()
        method, params = request["method"], request.get("params")
        seen.append(method)
        if method == "initialize":
            hello(request)
        elif method == "authenticate":
            is_logged_in = params["methodId"] == "key" and os.environ["AGENT_KEY"] == "fits"
            answer(request, {})
        elif method == "session/new":
            seen.append(params)
            new(request, is_logged_in)
            if HOW == "deaf":
                chatter()
        elif method in ("session/load", "session/resume"):
            if HOW == "forgets":
                refuse(request, -32002, "Resource not found")
            else:
                say("an old story", session=params["sessionId"])
                answer(request, None if HOW == "loads" else {})
        elif method.startswith("session/set_"):
            seen.append(params)
            answer(request, {})
        elif method == "session/prompt":
            if HOW in ("tells", "loads", "resumes", "forgets", "login", "options", "models"):
                update("agent_message_chunk", session=params["sessionId"], content={"type": "text", "text": json.dumps(seen)})
                end(request)
            else:
                prompted(request)


main()
