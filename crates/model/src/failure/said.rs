//! The words of an error, in whatever form providers write them.

use serde_json::Value;

/// Of a message this much is handed on; whole pages come back too.
const MOST_LETTERS: usize = 600;

/// What an error says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The provider's word for it, in one place or another.
    kind: String,
    code: String,
    pub(super) message: String,
    /// A number of HTTP within the error itself.
    pub(super) status: Option<u16>,
    pub(super) resets_at_s: Option<i64>,
    pub(super) resets_in_s: Option<u64>,
}

impl Said {
    pub(super) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: String::from_utf8_lossy(body).trim().to_owned(), ..Self::default() },
        }
    }

    pub(super) fn of(holder: &Value) -> Self {
        // Some put it in a list.
        let holder = holder.get(0).unwrap_or(holder);
        let error = &holder["error"];
        let error = if error.is_object() { error } else { holder };
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let message = [&error["message"], &holder["error"], &holder["message"], &holder["detail"]];
        let message = message.iter().find_map(|message| message.as_str()).unwrap_or_default();
        let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        Self {
            kind: text("type"),
            code: text("code"),
            message: message.to_owned(),
            status: status.filter(|status| (400..600).contains(status)),
            resets_at_s: error["resets_at"].as_i64(),
            resets_in_s: error["resets_in_seconds"].as_u64(),
        }
    }

    /// For a person.
    pub(super) fn shown(&self, status: Option<u16>) -> String {
        let number = status.map(|status| format!("status {status}"));
        let word = if self.code.is_empty() { &self.kind } else { &self.code };
        let message: String = self.message.chars().take(MOST_LETTERS).collect();
        match (message.as_str(), word.as_str()) {
            ("", "") => number.unwrap_or_else(|| "it does not say why".to_owned()),
            ("", word) => word.to_owned(),
            (_, _) => message,
        }
    }

    fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.kind == *name || self.code == *name)
    }

    fn mentions(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|words| message.contains(words))
    }

    /// As our own gateway says it, on either wire.
    pub(super) fn is_own_cap(&self, status: Option<u16>) -> bool {
        status == Some(403) && (self.code == "longhaul_cap" || self.message.starts_with("longhaul's cap `"))
    }

    pub(super) fn is_own_unreachable(&self, status: Option<u16>) -> bool {
        status == Some(502) && (self.code == "unreachable" || self.message.contains("cannot be reached: "))
    }

    pub(super) fn is_overflow(&self, status: Option<u16>) -> bool {
        let kinds = [
            "context_length_exceeded",
            "exceed_context_size_error",
            "request_too_large",
            "string_above_max_length",
        ];
        let words = [
            "prompt is too long",
            "input is too long",
            "context length",
            "context window",
            "context limit",
            "maximum context",
            "available context size",
            "exceeds the context",
        ];
        status == Some(413) || self.is(&kinds) || self.mentions(&words)
    }

    /// Free plans call a pause of seconds a quota too.
    pub(super) fn is_used_up(&self, status: Option<u16>, wait_ms: Option<u64>) -> bool {
        let kinds = [
            "insufficient_quota",
            "usage_limit_reached",
            "usage_limit_exceeded",
            "usage_not_included",
            "billing_error",
            "billing_hard_limit_reached",
        ];
        let words = [
            "usage limit",
            "regain access on",
            "credit balance",
            "insufficient balance",
            "insufficient credits",
            "out of credits",
            "spending limit",
            "hit your limit",
        ];
        let is_quota = self.mentions(&["exceeded your current quota"]) && wait_ms.is_none();
        status == Some(402) || self.is(&kinds) || self.mentions(&words) || is_quota
    }

    pub(super) fn is_about_the_key(&self) -> bool {
        self.is(&["authentication_error", "permission_error", "invalid_api_key"])
    }

    pub(super) fn is_rate_limit(&self) -> bool {
        self.is(&["rate_limit_error", "rate_limit_exceeded", "rate_limit", "too_many_requests"])
    }

    pub(super) fn is_trouble(&self) -> bool {
        let kinds = ["overloaded_error", "api_error", "server_error", "server_is_overloaded", "slow_down"];
        self.is(&kinds)
    }

    pub(super) fn is_about_the_request(&self) -> bool {
        let kinds = ["invalid_request_error", "invalid_prompt", "not_found_error", "model_not_found"];
        self.is(&kinds) || self.code.starts_with("invalid_") || self.kind.starts_with("invalid_")
    }
}
