//! What a client can write to the server: any bytes, line by line, before and after the conversation is open.
//!
//! `$TOKEN`, `$NOTES` and `$FOLDER` stand for a live handle, a live token for notes and a folder, so that made-up calls
//! come further than the first check.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};

use longhaul_mcp::{Longhaul, Profile, protocol};
use longhaul_runtime::types::StepView;
use longhaul_runtime::{NewWalk, Places, Settings, System};
use serde_json::Value;

/// One home for all inputs: a session that went on is as good as a new one.
struct Stage {
    server: Longhaul,
    view: StepView,
    folder: String,
    _home: tempfile::TempDir,
}

static STAGE: LazyLock<Stage> = LazyLock::new(|| {
    let home = tempfile::tempdir().expect("there is room for a home");
    let settings = Settings {
        places: Places::under(&home.path().join("home")),
        variables: BTreeMap::new(),
        directory: home.path().to_owned(),
        flags: Vec::new(),
    };
    let system = System::new(settings.clone());
    let commands = system.commands().expect("a store can be made");
    let walk =
        NewWalk { workflow: "lh.quick-task".to_owned(), goal: "g".to_owned(), vars: serde_json::Map::new() };
    let view = system.begin(&commands, walk).expect("a bundled workflow starts");
    let folder = home.path().display().to_string();
    Stage { server: Longhaul::new(settings, Profile::Outer), view, folder, _home: home }
});

/// Everything that the server wrote.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl tokio::io::AsyncWrite for Heard {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.0.lock().expect("nobody panicked while writing").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Nothing but messages comes out, none of them speaks of a bug, and the server ends when its input does.
pub(crate) fn run(bytes: &[u8]) {
    let stage = &*STAGE;
    let token = |token: &Option<String>| token.clone().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes)
        .replace("$TOKEN", &token(&stage.view.continue_token))
        .replace("$NOTES", &token(&stage.view.checkpoint_token))
        .replace("$FOLDER", &stage.folder);
    // Bytes that are no text stay as they are.
    let input = if std::str::from_utf8(bytes).is_ok() { text.into_bytes() } else { bytes.to_vec() };
    let heard = Heard::default();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let served =
        runtime.block_on(protocol::serve_lines(stage.server.clone(), Cursor::new(input), heard.clone()));
    served.expect("whatever comes in, the server ends in good order");
    let written = heard.0.lock().expect("nobody panicked while writing");
    for line in written.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(line).expect("only messages come out");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        assert!(
            !message["error"]["message"].as_str().unwrap_or_default().contains("a bug in Longhaul"),
            "{message}"
        );
    }
}
