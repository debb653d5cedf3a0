//! The C header against the structs and numbers of Rust: a C compiler says whether they agree.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "a program in C is a file")]
#![expect(clippy::disallowed_types, reason = "a C compiler is run")]

use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use forebay_host::Ecn;
use forebay_host_c::abi;

/// Assertions in C on the places and types of fields.
macro_rules! fields {
    ($program:ident, $name:literal, $type:ty { $($field:ident: $c_type:literal),* $(,)? }) => {
        assert(&mut $program, &format!("sizeof({}) == {}", $name, size_of::<$type>()));
        $(
            let (name, field, at) = ($name, stringify!($field), offset_of!($type, $field));
            assert(&mut $program, &format!("offsetof({name}, {field}) == {at}"));
            let is = format!("_Generic((({name} *)0)->{field}, {}: 1, default: 0)", $c_type);
            assert(&mut $program, &is);
        )*
    };
}

fn assert(program: &mut String, condition: &str) {
    program.push_str(&format!("_Static_assert({condition}, \"{condition}\");\n"));
}

fn program() -> String {
    let mut program = "#include <stddef.h>\n#include \"forebay_host.h\"\n".to_owned();
    fields!(program, "forebay_address", abi::Address { port: "uint16_t" });
    fields!(
        program,
        "forebay_datagram",
        abi::Datagram {
            from: "forebay_address",
            to: "forebay_address",
            ecn: "uint8_t",
            dscp: "uint8_t",
            bytes: "const uint8_t *",
            length: "size_t",
        }
    );
    fields!(
        program,
        "forebay_transmit",
        abi::Transmit { to: "forebay_address", ecn: "uint8_t", dscp: "uint8_t" }
    );
    fields!(
        program,
        "forebay_progress",
        abi::Progress { until_ps: "uint64_t", reason: "const char *" }
    );
    fields!(
        program,
        "forebay_endpoint",
        abi::Endpoint {
            size: "size_t",
            receive: "void (*)(void *, uint64_t, const forebay_datagram *)",
            transmit: "size_t (*)(void *, uint64_t, uint8_t *, size_t, forebay_transmit *)",
            timeout: "uint64_t (*)(void *)",
            wake: "void (*)(void *, uint64_t)",
            moved: "void (*)(void *, uint64_t, forebay_address)",
            advance: "int32_t (*)(void *, uint64_t, forebay_progress *)",
            delivered: "uint64_t (*)(const void *)",
            probes: "void (*)(const void *, forebay_visit *, void *)",
            figures: "void (*)(const void *, forebay_visit *, void *)",
        }
    );
    fields!(
        program,
        "forebay_host_report",
        abi::HostReport {
            name: "const char *",
            sent: "uint64_t",
            sent_bytes: "uint64_t",
            received: "uint64_t",
            received_bytes: "uint64_t",
            marked: "uint64_t",
            missed: "uint64_t",
            delivered: "uint64_t",
            goodput_bps: "double",
            started_s: "double",
            finished_s: "double",
            failed_s: "double",
            failure: "const char *",
        }
    );
    numbers(&mut program);
    program
}

fn numbers(program: &mut String) {
    for (name, value) in abi::progress::ALL {
        assert(program, &format!("FOREBAY_{name} == {value}"));
    }
    let codepoints =
        [("NOT_ECT", Ecn::NotEct), ("ECT_1", Ecn::Ect1), ("ECT_0", Ecn::Ect0), ("CE", Ecn::Ce)];
    for (name, ecn) in codepoints {
        assert(program, &format!("FOREBAY_{name} == {}", ecn as u8));
    }
    assert(program, &format!("FOREBAY_HOST_VERSION == {}", abi::VERSION));
    assert(program, &format!("FOREBAY_MAX_DATAGRAM == {}", abi::MAX_DATAGRAM));
    assert(program, &format!("FOREBAY_DSCP_OF_FLOW == {}", abi::DSCP_OF_FLOW));
    assert(program, &format!("FOREBAY_NO_TIME == {}u", abi::NO_TIME));
}

/// The complaint of a compiler about `text`, in the file `name`.
fn compile(compiler: &str, options: &[&str], name: &str, text: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut run = Command::new(compiler);
    run.args(["-Wall", "-Wextra", "-Werror", "-pedantic"]).args(options);
    run.args([format!("-I{crates}/host-c/include"), format!("-I{crates}/law-abi/include")]);
    let run = run.arg(&file).arg("-o").arg(folder.join(format!("{name}.out"))).output().ok()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    Some(if run.status.success() { String::new() } else { format!("it failed: {said}") })
}

/// Structs and numbers of the header are those that the library reads and writes: a field at
/// another place is a stack whose functions are others.
#[test]
fn the_header_says_what_the_library_does() {
    let options = ["-std=c11", "-fsyntax-only"];
    let said = compile("cc", &options, "layout.c", &program());
    assert_eq!(said.expect("there is a C compiler, or Rust had no linker"), "");
    // A program that says otherwise is refused, so that the first is a test.
    let wrong = program() + "_Static_assert(sizeof(forebay_endpoint) == 1, \"\");\n";
    let said = compile("cc", &options, "wrong.c", &wrong).unwrap();
    assert!(said.contains("static assertion"), "{said}");
}

/// C99 and C++ take the header, beside that of laws: a program may have both.
#[test]
fn the_header_is_one_of_c99_and_cpp() {
    let text = "#include \"forebay_law.h\"\n#include \"forebay_host.h\"\n\
                int main(void) { return FOREBAY_WAITING; }\n";
    for options in [["-std=c99", "-fsyntax-only"], ["-std=gnu17", "-fsyntax-only"]] {
        assert_eq!(compile("cc", &options, "header.c", text).unwrap(), "", "{options:?}");
    }
    let text = text.replace("(void)", "()");
    let said = compile("c++", &["-std=c++11", "-fsyntax-only"], "header.cpp", &text);
    assert_eq!(said.unwrap_or_default(), "");
}

/// Times in other units are rounded down where a clock is read, and up where a wake-up is asked
/// for, and what is too large is never.
#[test]
fn times_are_converted() {
    let text = r#"
#include "forebay_host.h"
#include <stdio.h>
static int failed(const char *what) { return printf("%s\n", what), 1; }
#define HOLDS(condition) if (!(condition)) return failed(#condition)
int main(void) {
  HOLDS(forebay_us(1999999) == 1 && forebay_ns(1999999) == 1999 && forebay_ms(1999999999) == 1);
  HOLDS(forebay_us(forebay_from_us(7)) == 7 && forebay_from_ms(3) == 3000000000u);
  HOLDS(forebay_from_us(UINT64_MAX) == FOREBAY_NO_TIME);
  HOLDS(forebay_from_ns(UINT64_MAX / 1000) != FOREBAY_NO_TIME);
  HOLDS(forebay_from_ns(UINT64_MAX / 1000 + 1) == FOREBAY_NO_TIME);
  HOLDS(forebay_from_s(1.5e-12) == 2 && forebay_from_s(1e-3) == 1000000000u);
  HOLDS(forebay_from_s(-1) == 0 && forebay_from_s(1e9) == FOREBAY_NO_TIME);
  return 0;
}
"#;
    assert_eq!(compile("cc", &["-std=c99"], "times.c", text).unwrap(), "");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("times.c.out");
    let run = Command::new(program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "");
    assert!(run.status.success());
}
