//! Signatures, with the examples of those who made up the schemes.

use longhaul_events::Timestamp;

use super::super::signature::{Check, verify};
use super::*;

fn delivery(body: &str, headers: &[(&str, &str)]) -> Delivery {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Delivery { headers, body: body.into() }
}

/// As the documentation of GitHub has it.
const SECRET: &str = "It's a Secret to Everybody";
const BODY: &str = "Hello, World!";
const SIGNATURE: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

fn github(body: &str, headers: &[(&str, &str)]) -> Result<(), Problem> {
    let delivery = delivery(body, headers);
    verify(&Check { delivery: &delivery, header: "X-Hub-Signature-256", secret: SECRET, now: Timestamp(0) })
}

#[test]
fn a_signature_as_github_makes_it_is_taken_in_both_forms() {
    let full = format!("sha256={SIGNATURE}");
    assert_eq!(github(BODY, &[("x-hub-signature-256", &full)]), Ok(()));
    assert_eq!(github(BODY, &[("X-HUB-SIGNATURE-256", SIGNATURE)]), Ok(()));
    assert_eq!(github(BODY, &[("x-hub-signature-256", &full.to_uppercase().replace("SHA", "sha"))]), Ok(()));
}

#[test]
fn whatever_is_changed_the_signature_does_not_hold() {
    let full = format!("sha256={SIGNATURE}");
    assert_eq!(github("Hello, World", &[("X-Hub-Signature-256", &full)]), Err(Problem::WrongSignature));
    let flipped = full.replace("757107", "757108");
    assert_eq!(github(BODY, &[("X-Hub-Signature-256", &flipped)]), Err(Problem::WrongSignature));
    let header = "X-Hub-Signature-256".to_owned();
    assert_eq!(github(BODY, &[]), Err(Problem::Unsigned { header: header.clone() }));
    assert_eq!(
        github(BODY, &[("X-Hub-Signature", &full)]),
        Err(Problem::Unsigned { header: header.clone() })
    );
    for wrong in
        ["", "sha256=", "sha1=00", &full[..70], &format!("{full}00"), &"z".repeat(64), &"ü".repeat(32)]
    {
        let told = github(BODY, &[("X-Hub-Signature-256", wrong)]);
        assert_eq!(told, Err(Problem::Malformed { header: header.clone() }), "{wrong}");
    }
    let twice = [("X-Hub-Signature-256", "sha256=00"), ("x-hub-signature-256", full.as_str())];
    assert_eq!(github(BODY, &twice), Err(Problem::HeaderTwice { header }));
}

/// As the documentation of Standard Webhooks has it.
const STANDARD_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SENT: i64 = 1_614_265_330;

fn standard(signature: &str, change: &[(&str, &str)], now: i64) -> Result<(), Problem> {
    let mut headers = vec![
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek"),
        ("webhook-timestamp", "1614265330"),
        ("webhook-signature", signature),
    ];
    headers.retain(|(name, _)| !change.iter().any(|(changed, _)| changed == name));
    headers.extend(change.iter().filter(|(_, value)| !value.is_empty()));
    let delivery = delivery(r#"{"test": 2432232314}"#, &headers);
    let now = Timestamp(now * 1000);
    verify(&Check { delivery: &delivery, header: "Webhook-Signature", secret: STANDARD_SECRET, now })
}

#[test]
fn standard_webhooks_sign_id_time_and_body() {
    let right = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    assert_eq!(standard(right, &[], SENT), Ok(()));
    assert_eq!(standard(right, &[], SENT + 300), Ok(()));
    assert_eq!(standard(right, &[], SENT - 300), Ok(()));
    let several = format!("v1,AAAA v1a,x {right}");
    assert_eq!(standard(&several, &[], SENT), Ok(()), "one of several is enough");
    for now in [SENT + 301, SENT - 301] {
        let out = Problem::OutOfTime { sent: Timestamp(SENT * 1000), now: Timestamp(now * 1000) };
        assert_eq!(standard(right, &[], now), Err(out));
    }
    assert_eq!(standard(right, &[("webhook-id", "msg_other")], SENT), Err(Problem::WrongSignature));
    assert_eq!(standard(right, &[("webhook-timestamp", "1614265331")], SENT), Err(Problem::WrongSignature));
    assert_eq!(
        standard("v1,AAAA", &[], SENT + 9999),
        Err(Problem::WrongSignature),
        "a stranger is told no more"
    );
    assert_eq!(standard(&right.replace("v1,", "v2,"), &[], SENT), Err(Problem::WrongSignature));
    let unsigned = Problem::Unsigned { header: "webhook-id".into() };
    assert_eq!(standard(right, &[("webhook-id", "")], SENT), Err(unsigned));
    for wrong in ["now", "99999999999999999999", "9223372036854775807"] {
        let malformed = Problem::Malformed { header: "webhook-timestamp".into() };
        assert_eq!(standard(right, &[("webhook-timestamp", wrong)], SENT), Err(malformed));
    }
}

#[test]
fn a_token_of_gitlab_is_compared_whole() {
    let check = |sent: &str| {
        let delivery = delivery("{}", &[("X-Gitlab-Token", sent)]);
        verify(&Check { delivery: &delivery, header: "X-Gitlab-Token", secret: "a-token", now: Timestamp(0) })
    };
    assert_eq!(check("a-token"), Ok(()));
    for wrong in ["a-toke", "a-token2", "A-TOKEN", ""] {
        assert_eq!(check(wrong), Err(Problem::WrongSignature), "{wrong}");
    }
}

#[test]
fn the_header_says_how_a_request_is_signed() {
    assert_eq!(Scheme::of("X-Hub-Signature-256"), Scheme::HmacHex);
    assert_eq!(Scheme::of("X-My-Signature"), Scheme::HmacHex);
    assert_eq!(Scheme::of("webhook-signature"), Scheme::StandardWebhooks);
    assert_eq!(Scheme::of("x-gitlab-TOKEN"), Scheme::Token);
}
