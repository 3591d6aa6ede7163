#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| openshift_templates_fuzz::answers(bytes));
