//! Event streams: no panic, and the same events however the bytes are cut.
#![no_main]

mod events;

libfuzzer_sys::fuzz_target!(|input: &[u8]| events::read(input));
