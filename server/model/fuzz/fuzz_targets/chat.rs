//! Replies of the protocol `chat`.
#![no_main]

mod reply;

use libfuzzer_sys::fuzz_target;
use ropewalk_model::Protocol;

fuzz_target!(|input: &[u8]| reply::read(Protocol::Chat, input));
