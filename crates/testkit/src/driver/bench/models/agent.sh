# An agent with hands of its own, as small as one can be: it starts the tools that it is given, as real ones do, and hands
# its step in when a file tells it to.
part() { printf '%s' "$line" | sed -n "s/.*$1.*/\1/p"; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
ask() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" >&8; read -r told <&7; }

start_tools() {
    mkfifo "$HOME/asked" "$HOME/told"
    LONGHAUL_GATEWAY=$(part '"name":"LONGHAUL_GATEWAY","value":"\([^"]*\)"') \
        LONGHAUL_GATEWAY_TOKEN=$(part '"name":"LONGHAUL_GATEWAY_TOKEN","value":"\([^"]*\)"') \
        "$(part '"command":"\([^"]*\)"')" mcp --attach <"$HOME/asked" >"$HOME/told" &
    exec 8>"$HOME/asked" 7<"$HOME/told"
    ask initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}'
    printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&8
    ask tools/list '{}'
}

while read -r line; do
    id=$(part '"id":\([^,}]*\)')
    case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}' ;;
    *'"method":"session/new"'*)
        start_tools
        answer '{"sessionId":"one"}'
        ;;
    *'"method":"session/prompt"'*)
        : >ready
        until [ -e go ]; do sleep 0.2; done
        ask tools/call '{"name":"complete_step","arguments":{}}'
        token=$(printf '%s' "$told" | sed -n 's/.*"continueToken":"\([^"]*\)".*/\1/p')
        ask tools/call "{\"name\":\"complete_step\",\"arguments\":{\"continueToken\":\"$token\",\"notes\":\"Waited.\"}}"
        answer '{"stopReason":"end_turn"}'
        ;;
    esac
done
