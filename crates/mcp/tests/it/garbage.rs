//! Whatever comes in, something sensible goes out, and the next request is answered.

use longhaul_mcp::{Longhaul, Profile, protocol};
use serde_json::json;

use crate::client::{Client, ERAS, Era, Home};

#[tokio::test]
async fn garbage_is_answered_and_the_session_goes_on() {
    for era in ERAS {
        let home = Home::new();
        let mut client = Client::connect(&home, era, json!({})).await;
        for (line, code) in [
            (&b"\x00\xff\xfe binary"[..], -32700),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth", -32700),
            (b"[]", -32600),
            (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}]", -32600),
            (b"null", -32600),
            (b"{}", -32600),
        ] {
            client.send_line(line).await;
            assert_eq!(client.next().await["error"]["code"], code);
        }
        client.send_line(b"").await;
        client.send_line(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/no/such\"}").await;
        client.send_line(b"{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}").await;
        let unknown = client.request("no/such/method", json!({})).await;
        assert_eq!(unknown["error"]["code"], -32601, "{unknown:#}");
        let wrong = client.request("tools/call", json!({ "name": 7 })).await;
        assert_eq!(wrong["error"]["code"], -32602, "{wrong:#}");
        let unknown = client.request("tools/call", json!({ "name": "no_such_tool" })).await;
        assert_eq!(unknown["error"]["code"], -32602, "{unknown:#}");
        let listed = client.request("tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 6);
        client.leave().await;
    }
}

#[tokio::test]
async fn a_line_without_an_end_is_answered_and_not_kept() {
    let home = Home::new();
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let long = vec![b'x'; protocol::MOST_BYTES + 1];
    client.send_line(&long).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_line_of_many_tiny_values_is_refused_before_it_is_taken_apart() {
    let home = Home::new();
    let mut client = Client::connect(&home, Era::Stateless, json!({})).await;
    let many = "{},".repeat(protocol::MOST_BYTES / 4);
    let line =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"a\":[{many}0]}}}}");
    client.send_line(line.as_bytes()).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    let listed = client.request("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn garbage_before_anything_else_does_not_end_the_server() {
    let home = Home::new();
    let mut client = Client::over(Longhaul::new(home.settings(), Profile::Outer));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": 4, "result": {} })).await;
    client.send_line(b"nonsense").await;
    assert_eq!(client.next().await["error"]["code"], -32700);
    let early = client.request("tools/list", json!({})).await;
    assert_eq!(early["error"]["code"], -32602, "a request that says nothing of itself: {early:#}");
    client.open(ERAS[1], json!({})).await;
    client.leave().await;
}

#[tokio::test]
async fn whoever_comes_and_goes_without_a_word_is_no_error() {
    let home = Home::new();
    Client::over(Longhaul::new(home.settings(), Profile::Outer)).leave().await;
    assert!(!home.path.join("home").exists(), "nothing was made");
}
