//! The body that has this program's name, under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| forebay_fuzz::body(env!("CARGO_BIN_NAME"))(data));
