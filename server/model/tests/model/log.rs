//! The log: it says that a stream was odd, and none of the server's words, which may hold a key.

use ropewalk_model::{Http, Protocol, ServerConfig, ServerModel};
use std::collections::VecDeque;
use std::io::Write;
use std::process::Command;
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-secret-0123456789";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs itself again in a process of its own: a place that logs is asked once who listens, and where another test's thread
/// comes to it first, nobody does.
#[test]
fn no_word_of_a_server_is_logged() {
    const ALONE: &str = "ROPEWALK_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let ran = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "log::no_word_of_a_server_is_logged"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    for protocol in Protocol::ALL {
        for event in [
            "{KEY",
            r#"{"type": KEY"#,
            r#""KEY""#,
            r#"{"choices": "KEY"}"#,
            r#"{"type": "KEY"}"#,
            r#"{"type": "content_block_start", "content_block": {"type": "KEY"}}"#,
            r#"{"type": "content_block_delta", "delta": {"type": "KEY"}}"#,
            r#"{"type": "message_start", "message": "KEY"}"#,
            r#"{"type": "response.created", "response": "KEY"}"#,
            r#"{"type": "response.output_item.added", "item": {"type": "KEY"}}"#,
            r#"{"type": "response.output_item.done", "item": "KEY"}"#,
        ] {
            let log = Log::default();
            let writer = log.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::TRACE)
                .with_ansi(false)
                .with_writer(move || writer.clone())
                .finish();
            tracing::subscriber::with_default(subscriber, || {
                let config = ServerConfig::new(*protocol, "m");
                let mut reader = ServerModel::new(config, Http::new()).unwrap().reader();
                let event = format!("data: {}\n\n", event.replace("KEY", KEY));
                let _ = reader.feed(event.as_bytes(), &mut VecDeque::new());
            });
            let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
            assert!(!log.contains("secret"), "{log}");
            let is_garbage = event.starts_with("{KEY");
            assert!(!is_garbage || log.contains("garbage") && log.contains("length=21"), "{log}");
        }
    }
}
