# An agent with hands of its own that remembers its conversations. In its first life it begins and gets nowhere; in its
# second it is asked to take its conversation up, and hands in whatever it is prompted with. What it was asked is in `lives`.
part() { printf '%s' "$line" | sed -n "s/.*$1.*/\1/p"; }
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
ask() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2" >&8; read -r told <&7; }

start_tools() {
    rm -f "$HOME/asked" "$HOME/told"
    mkfifo "$HOME/asked" "$HOME/told"
    LONGHAUL_GATEWAY=$(part '"name":"LONGHAUL_GATEWAY","value":"\([^"]*\)"') \
        LONGHAUL_GATEWAY_TOKEN=$(part '"name":"LONGHAUL_GATEWAY_TOKEN","value":"\([^"]*\)"') \
        "$(part '"command":"\([^"]*\)"')" mcp --attach <"$HOME/asked" >"$HOME/told" &
    exec 8>"$HOME/asked" 7<"$HOME/told"
    ask initialize '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}'
    printf '{"jsonrpc":"2.0","method":"notifications/initialized"}\n' >&8
}

life=first
while read -r line; do
    id=$(part '"id":\([^,}]*\)')
    case $line in
    *'"method":"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}' ;;
    *'"method":"session/new"'*)
        echo "new" >>lives
        start_tools
        answer '{"sessionId":"a-conversation"}'
        ;;
    *'"method":"session/load"'*)
        echo "load $(part '"sessionId":"\([^"]*\)"')" >>lives
        life=second
        start_tools
        # What was said before is told again, and nobody takes it for news.
        printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a-conversation","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"An old tale."}}}}\n'
        answer 'null'
        ;;
    *'"method":"session/prompt"'*)
        if [ "$life" = first ]; then
            echo "begun" >>lives
            sleep 600
        fi
        printf '%s\n' "$line" >>prompts
        ask tools/call '{"name":"complete_step","arguments":{}}'
        token=$(printf '%s' "$told" | sed -n 's/.*"continueToken":"\([^"]*\)".*/\1/p')
        ask tools/call "{\"name\":\"complete_step\",\"arguments\":{\"continueToken\":\"$token\",\"notes\":\"Done in the $life life.\"}}"
        answer '{"stopReason":"end_turn"}'
        ;;
    esac
done
