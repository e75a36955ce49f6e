//! When a failed exchange is tried again: a pure function, table by table.

use ropewalk_model::{ModelError, Retry};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn waits_double_up_to_the_longest_and_end_with_the_tries() {
    let retry = Retry { tries: 100, first_wait: SECOND, ..Retry::default() };
    let error = ModelError::Server { message: "500".into(), retry_after: None };
    let waits: Vec<_> = [1, 2, 3, 5, 6, 40, 99]
        .iter()
        .map(|n| retry.wait(*n, &error, 0).unwrap().as_secs())
        .collect();
    assert_eq!(waits, [1, 2, 4, 16, 30, 30, 30]);
    assert_eq!(retry.wait(100, &error, 0), None);
    assert_eq!(retry.wait(u32::MAX, &error, 0), None);
}

#[test]
fn a_cut_stream_is_asked_for_again_at_once_but_only_once_at_once() {
    let retry = Retry::default();
    for error in
        [ModelError::Cut { why: String::new() }, ModelError::Stalled { after: SECOND, begun: true }]
    {
        assert_eq!(retry.wait(1, &error, 0), Some(Duration::ZERO));
        assert_eq!(retry.wait(2, &error, 0), Some(SECOND));
    }
}

#[test]
fn what_the_server_asks_is_obeyed_within_reason() {
    let retry = Retry::default();
    let limited = |seconds| ModelError::RateLimited {
        message: String::new(),
        retry_after: Some(SECOND * seconds),
    };
    assert_eq!(retry.wait(1, &limited(0), 0), Some(Duration::ZERO));
    assert_eq!(retry.wait(1, &limited(300), 0), Some(SECOND * 300));
    assert_eq!(retry.wait(1, &limited(301), 0), None);
}

#[test]
fn chance_shortens_what_the_server_did_not_ask_for() {
    let retry = Retry::default();
    let failed = |retry_after| ModelError::Server { message: String::new(), retry_after };
    for (chance, wait) in [(0, 2_000), (u16::MAX / 3, 1_666), (u16::MAX, 1_000)] {
        let shortened = retry.wait(3, &failed(None), chance);
        assert_eq!(shortened.unwrap().as_millis(), wait, "{chance}");
        assert_eq!(retry.wait(3, &failed(Some(SECOND)), chance), Some(SECOND));
    }
}

#[test]
fn a_server_that_can_t_be_reached_is_tried_for_a_time() {
    let retry = Retry::default();
    let gone = ModelError::Unreachable { host: "h".into(), why: "w".into() };
    let after = |failed, seconds: u64| retry.wait_after(failed, SECOND * seconds as u32, &gone, 0);
    assert_eq!(after(1, 0), Some(SECOND / 2));
    assert_eq!(after(9, 20), Some(SECOND * 30));
    assert_eq!(after(9, 45), Some(SECOND * 15), "the last one ends with the time");
    assert_eq!(after(2, 60), None);
    assert_eq!(after(u32::MAX, 61), None);
    assert_eq!(Retry { tries: 1, ..retry.clone() }.wait_after(1, SECOND, &gone, 0), None);
    let busy = ModelError::Overloaded { message: String::new(), retry_after: None };
    assert_eq!(retry.wait_after(6, SECOND, &busy, 0), Some(SECOND * 16));
    assert_eq!(retry.wait_after(30, SECOND * 290, &busy, 0), Some(SECOND * 10));
    assert_eq!(retry.wait_after(6, SECOND * 300, &busy, 0), None);
    let by_tries = Retry { overload: Duration::ZERO, ..retry.clone() };
    assert_eq!(by_tries.wait_after(6, SECOND, &busy, 0), None);
    for at_once in [
        ModelError::NothingListens { host: "h".into() },
        ModelError::ProxyLogin { variable: "V".into() },
        ModelError::CertificateTime { host: "h".into(), when: "w".into() },
    ] {
        assert_eq!(retry.wait_after(1, Duration::ZERO, &at_once, 0), None, "{at_once}");
    }
}

#[test]
fn what_does_not_pass_is_not_tried_again() {
    let retry = Retry::default();
    let host = || "h".to_owned();
    for error in [
        ModelError::MissingKey { var: "V".into() },
        ModelError::BadKey { host: host() },
        ModelError::UnknownModel { host: host(), model: "m".into() },
        ModelError::InvalidRequest { message: String::new() },
        ModelError::ContextLength { message: String::new() },
        ModelError::TooLarge { what: String::new() },
        ModelError::Stalled { after: SECOND, begun: false },
    ] {
        assert_eq!(retry.wait(1, &error, 0), None, "{error}");
    }
}
