//! A value for a webhook: sent once, and the address stays a secret.

use std::net::TcpListener;
use std::time::Duration;

use longhaul_gateway::{HookError, post_json};
use serde_json::json;

use crate::support::{Server, answer_with, ok};

const PATIENCE: Duration = Duration::from_secs(30);

fn post(server: &Server, rest: &str) -> Result<(), HookError> {
    post_json(&format!("http://{}{rest}", server.address), &json!({ "id": "n-1" }), PATIENCE)
}

#[test]
fn a_value_is_sent_once_to_path_and_query() {
    let server = Server::answering(ok("text/plain", "thanks"));
    post(&server, "/services/T1/x?key=y").unwrap();
    let heard = server.heard();
    assert_eq!(heard.len(), 1);
    let lower = heard[0].to_lowercase();
    assert!(heard[0].starts_with("POST /services/T1/x?key=y HTTP/1.1\r\n"), "{heard:?}");
    assert!(lower.contains(&format!("host: {}\r\n", server.address)), "{heard:?}");
    assert!(
        lower.contains("content-type: application/json\r\n") && heard[0].ends_with(r#"{"id":"n-1"}"#),
        "{heard:?}"
    );
}

#[test]
fn whatever_goes_wrong_is_told_without_the_address() {
    let gone = Server::answering(answer_with("410 Gone", "text/plain", "no such hook"));
    assert_eq!(post(&gone, "/hook"), Err(HookError::Status(410)));
    // Whoever answers with another address is not followed.
    let moved =
        vec!["HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n".to_owned()];
    assert_eq!(post(&Server::answering(moved), "/hook"), Err(HookError::Status(307)));
    assert_eq!(post(&Server::answering(Vec::new()), "/hook"), Err(HookError::Broken));
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let refused = post_json(&format!("http://{nobody}/secret-path"), &json!({}), PATIENCE).unwrap_err();
    assert_eq!(refused.to_string(), "nobody could be reached there (connection refused)");
    for unfit in
        ["", "hooks.example/x", "ftp://hooks.example/x", "https://ada:pw@hooks.example/x", "http://a b/"]
    {
        let refused = post_json(unfit, &json!({}), PATIENCE).unwrap_err().to_string();
        assert!(refused.starts_with("the address cannot be used") && !refused.contains("pw"), "{refused}");
    }
}

#[test]
fn nobody_waits_for_ever() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let patience = Duration::from_millis(200);
    let silent = post_json(&format!("http://{address}/x"), &json!({}), patience);
    assert_eq!(silent, Err(HookError::TimedOut(patience)));
}
