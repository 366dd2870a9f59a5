#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| impairlab_fuzz::fec_decoder(data));
