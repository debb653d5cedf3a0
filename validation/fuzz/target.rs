//! The body that has the name under which this program is called, under libFuzzer.

#![no_main]

use std::env;
use std::path::Path;
use std::sync::LazyLock;

use forebay_fuzz::Body;

static BODY: LazyLock<Body> = LazyLock::new(|| {
    let program = env::args_os().next().expect("a program has a name");
    let name = Path::new(&program).file_name().and_then(|name| name.to_str());
    forebay_fuzz::body(name.expect("targets have names in ASCII"))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| BODY(data));
