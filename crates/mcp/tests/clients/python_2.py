"""The Python SDK, which knows all revisions. See talk.mjs for the wishes."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

TARGET = json.loads(sys.argv[1])
DECISION = {"action": "decline"}


async def decide(_context, _params):
    return ElicitResult(**DECISION)


async def fulfil(client, wish, name=None, arguments=None, uri=None, answer=None):
    match wish:
        case "version":
            return client.protocol_version
        case "tools":
            return await client.list_tools()
        case "call":
            return await client.call_tool(name, arguments)
        case "prompts":
            return await client.list_prompts()
        case "prompt":
            return await client.get_prompt(name, arguments)
        case "resources":
            return await client.list_resources()
        case "read":
            return await client.read_resource(uri)
        case "decide":
            DECISION.clear()
            DECISION.update(answer)
            return None


def plain(value):
    return value.model_dump(mode="json", by_alias=True, exclude_none=True) if hasattr(value, "model_dump") else value


async def main():
    server = TARGET.get("url") or StdioServerParameters(**TARGET["stdio"])
    person = decide if TARGET["person"] else None
    async with Client(server, mode=TARGET["mode"], elicitation_callback=person) as client:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            try:
                said = {"good": plain(await fulfil(client, **json.loads(line)))}
            except Exception as error:
                said = {"bad": {"code": getattr(error, "code", None), "message": str(error)}}
            print(json.dumps(said), flush=True)


anyio.run(main)
