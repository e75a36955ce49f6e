//! Settings of a model reach it.

use super::{ServerConfig, factory, server_of};
use ropewalk_config::{Config, Environment, Sources};
use ropewalk_model::Patience;
use ropewalk_protocol::Thinking;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// No home, no variables, no files.
struct Bare;

impl Environment for Bare {
    fn home(&self) -> Option<PathBuf> {
        None
    }

    fn var(&self, _: &str) -> Option<String> {
        None
    }

    fn read(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn config(flags: &[&str]) -> Config {
    let own = ["model=own/m", "provider.own.protocol=chat", "provider.own.base_url=http://h/v1"];
    let flags = own.iter().chain(flags).map(|flag| (*flag).to_owned()).collect();
    Config::build(&Sources { flags, ..Sources::default() }, &Bare)
}

fn server(flags: &[&str]) -> ServerConfig {
    server_of(&config(flags), &Bare).unwrap().1
}

#[test]
fn what_nobody_has_set_is_the_models_own() {
    let server = server(&[]);
    assert_eq!(server.patience, Patience::default());
    assert_eq!((server.parallel, server.thinking, server.lean), (None, None, None));
}

#[test]
fn what_is_set_reaches_the_model() {
    let server = server(&[
        "provider.own.parallel=3",
        "provider.own.lean=true",
        "provider.own.thinking=high",
        "limits.idle_seconds=7",
        "limits.first_byte_seconds=8",
    ]);
    let (idle, first) = (Duration::from_secs(7), Duration::from_secs(8));
    let patience = Patience { first, first_on_loopback: first, pings: first, idle };
    assert_eq!(server.patience, patience);
    assert_eq!(server.parallel, Some(3));
    assert_eq!((server.thinking, server.lean), (Some(Thinking::High), Some(true)));
}

#[cfg(unix)]
#[tokio::test]
async fn a_key_that_was_asked_for_is_redacted_for_the_models_after_it_too() {
    const KEY: &str = "sk-printed-0123456789";
    let make = factory(Arc::new(Bare));
    let first =
        make(&config(&["provider.own.api_key_command=echo sk-printed-0123456789"])).unwrap();
    first.ready().await.unwrap();
    let other = [
        "model=other/m",
        "provider.other.protocol=anthropic",
        "provider.other.base_url=http://h",
        "provider.other.api_key_command=echo another-0123456789",
    ];
    for flags in [&other[..3], &other] {
        let next = make(&config(flags)).unwrap();
        assert!(next.keys().are_in(KEY.as_bytes()), "{flags:?}");
    }
}

#[test]
fn the_password_of_a_board_is_redacted_whatever_the_model_is() {
    let server = server(&["team.board=postgres://ada:hunter2@db/t", "team.board=/b"]);
    let said = "psql: postgres://ada:hunter2@db/t is not there";
    assert_eq!(server.keys.redact(said), "psql: postgres://[key] is not there");
}
