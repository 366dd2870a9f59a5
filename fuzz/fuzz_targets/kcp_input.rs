#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| impairlab_fuzz::kcp_input(data));
