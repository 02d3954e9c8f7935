//! How many clients of older revisions are remembered at once. Nothing makes them say goodbye, and each takes memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::transport::streamable_http_server::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The most sessions of the protocol. Whoever was not heard for longest gives up theirs; their client begins anew, and
/// what they did is in the log.
pub const MOST_SESSIONS: usize = 1_000;

pub(super) struct Seats {
    sessions: Arc<LocalSessionManager>,
    heard: Mutex<HashMap<String, Instant>>,
}

impl Seats {
    pub(super) fn new(sessions: Arc<LocalSessionManager>) -> Self {
        Self { sessions, heard: Mutex::new(HashMap::new()) }
    }

    /// Names that nobody gave out are not kept for long: a client can write anything.
    pub(super) fn heard(&self, id: &str) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.len() >= 2 * MOST_SESSIONS {
            heard.clear();
        }
        heard.insert(id.to_owned(), Instant::now());
    }

    /// Before somebody comes in.
    pub(super) async fn make_room(&self) {
        while self.sessions.sessions.read().await.len() >= MOST_SESSIONS {
            let ids: Vec<_> = self.sessions.sessions.read().await.keys().cloned().collect();
            let Some(id) = self.silent_longest(&ids) else { return };
            // One that is gone already has left its seat.
            let _ = self.sessions.close_session(&id).await;
        }
    }

    /// Also forgets those who are gone.
    fn silent_longest(&self, ids: &[Arc<str>]) -> Option<Arc<str>> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let known: HashSet<&str> = ids.iter().map(|id| &**id).collect();
        heard.retain(|id, _| known.contains(id.as_str()));
        ids.iter().min_by_key(|id| heard.get(&***id).copied()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_was_silent_for_longest_makes_room() {
        let sessions = Arc::new(LocalSessionManager::default());
        let seats = Seats::new(sessions.clone());
        let mut all = Vec::new();
        for _ in 0..MOST_SESSIONS {
            seats.make_room().await;
            let (id, transport) = sessions.create_session().await.unwrap();
            seats.heard(&id);
            all.push((id, transport));
        }
        seats.heard(&all[0].0);
        seats.make_room().await;
        let known = sessions.sessions.read().await;
        assert_eq!(known.len(), MOST_SESSIONS - 1);
        assert!(known.contains_key(&all[0].0), "it was heard again");
        assert!(!known.contains_key(&all[1].0), "nobody was silent for longer");
    }
}
