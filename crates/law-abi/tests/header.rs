//! The C header against the structs and numbers of Rust: a C compiler says whether they agree.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "a program in C is a file")]
#![expect(clippy::disallowed_types, reason = "a C compiler is run")]

use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use forebay_law_abi::abi::{self, FactType};

/// Assertions in C, one a line.
struct Program(String);

impl Program {
    fn assert(&mut self, condition: &str) {
        let message = condition.replace('"', "");
        self.0.push_str(&format!("_Static_assert({condition}, \"{message}\");\n"));
    }

    fn size(&mut self, name: &str, bytes: usize) {
        self.assert(&format!("sizeof({name}) == {bytes}"));
    }

    /// The place of a field, and the type of what stands there.
    fn field(&mut self, name: &str, field: &str, at: usize, c_type: &str) {
        self.assert(&format!("offsetof({name}, {field}) == {at}"));
        self.assert(&format!("_Generic((({name} *)0)->{field}, {c_type}: 1, default: 0)"));
    }

    fn facts<T>(&mut self, name: &str, layout: &[abi::Fact]) {
        self.size(name, size_of::<T>());
        for (field, kind, at) in layout {
            let (field, c_type) = match kind {
                FactType::Uint32 => ((*field).to_owned(), "uint32_t"),
                FactType::Int64 => ((*field).to_owned(), "int64_t"),
                FactType::Double => ((*field).to_owned(), "double"),
                FactType::Pointer if *field == "random" => {
                    ((*field).to_owned(), "forebay_random *")
                }
                FactType::Pointer => ((*field).to_owned(), "void *"),
                FactType::Classes => {
                    self.assert(&format!("sizeof((({name} *)0)->{field}) == 64 * 8"));
                    (format!("{field}[0]"), "int64_t")
                }
            };
            self.field(name, &field, *at, c_type);
        }
    }

    fn numbers(&mut self, names: &[(&str, i64)]) {
        for (name, value) in names {
            self.assert(&format!("FOREBAY_{name} == {value}"));
        }
    }
}

/// Assertions on the places of fields of a struct that is no struct of facts.
macro_rules! fields {
    ($program:ident, $name:literal, $type:ty {
        $($field:ident $(as $c_field:literal)?: $c_type:literal),* $(,)?
    }) => {
        $program.size($name, size_of::<$type>());
        $({
            let field = [$($c_field,)? stringify!($field)][0];
            $program.field($name, field, offset_of!($type, $field), $c_type);
        })*
    };
}

fn structs(program: &mut Program) {
    fields!(program, "forebay_word", abi::Word { name: "const char *", meaning: "const char *" });
    fields!(program, "forebay_parameter", abi::Parameter {
        size: "uint32_t",
        r#type as "type": "uint32_t",
        flags: "uint32_t",
        word_count: "uint32_t",
        name: "const char *",
        meaning: "const char *",
        source: "const char *",
        default_value: "const char *",
        words: "const forebay_word *",
    });
    fields!(program, "forebay_probe", abi::Probe {
        size: "uint32_t",
        r#type as "type": "uint32_t",
        offset: "uint64_t",
        name: "const char *",
        unit: "const char *",
        meaning: "const char *",
    });
    fields!(program, "forebay_law", abi::Law {
        size: "uint32_t",
        kind: "uint32_t",
        flags: "uint32_t",
        state_bytes: "uint32_t",
        name: "const char *",
        summary: "const char *",
        source: "const char *",
        example: "const char *",
        contents: "const char *",
        parameters: "const forebay_parameter *",
        probes: "const forebay_probe *",
        parameter_count: "uint32_t",
        probe_count: "uint32_t",
        create: "forebay_call *",
        destroy: "void (*)(void *)",
        decide as "decide[0]": "forebay_call *",
        probe: "void (*)(const void *, double *)",
    });
    fields!(
        program,
        "forebay_laws",
        abi::Laws {
            size: "uint32_t",
            version: "uint32_t",
            count: "uint64_t",
            laws: "const forebay_law *const *",
        }
    );
    fields!(
        program,
        "forebay_host",
        abi::Host {
            size: "uint32_t",
            version: "uint32_t",
            forebay_version: "const char *",
            fail: "void (*)(void *, const char *, const char *)",
            drop: "void (*)(void *, int64_t, int32_t)",
            ln: "double (*)(double)",
            ln_1p: "double (*)(double)",
            exp: "double (*)(double)",
            exp_m1: "double (*)(double)",
            pow: "double (*)(double, double)",
            cbrt: "double (*)(double)",
            uniform: "double (*)(forebay_random *)",
            exponential: "double (*)(forebay_random *)",
            normal: "double (*)(forebay_random *)",
            below: "int64_t (*)(forebay_random *, int64_t)",
        }
    );
}

fn program() -> String {
    let mut program = Program("#include <stddef.h>\n#include \"forebay_law.h\"\n".to_owned());
    macro_rules! facts {
        ($($name:ident),*) => {
            $(program.facts::<abi::$name>(abi::$name::C_NAME, &abi::$name::layout());)*
        };
    }
    facts!(
        CreateFacts,
        QueueFacts,
        SchedulerFacts,
        ConditionerFacts,
        ControlFacts,
        TrafficFacts,
        ImpairmentFacts
    );
    structs(&mut program);
    for numbers in [
        abi::kind::ALL,
        abi::flag::ALL,
        abi::parameter_type::ALL,
        abi::parameter_flag::ALL,
        abi::probe_type::ALL,
        abi::decision::ALL,
        abi::verdict::ALL,
        abi::packet_kind::ALL,
    ] {
        program.numbers(numbers);
    }
    for (name, value) in abi::signal::ALL {
        program.assert(&format!("FOREBAY_SIGNAL_{name} == {value}"));
    }
    program.assert(&format!("FOREBAY_LAWS_VERSION == {}", abi::VERSION));
    program.assert(&format!("FOREBAY_NEVER == {}", abi::NEVER));
    program.assert(&format!("FOREBAY_MAX_DECISIONS == {}", abi::MAX_DECISIONS));
    program.0
}

fn include() -> String {
    format!("-I{}/include", env!("CARGO_MANIFEST_DIR"))
}

/// The complaint of a compiler about `text`, in the file `name`.
fn compile(compiler: &str, options: &[&str], name: &str, text: &str) -> Option<String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).unwrap();
    let run = Command::new(compiler).args(options).arg(include()).arg(&file).output().ok()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    Some(if run.status.success() { String::new() } else { format!("it failed: {said}") })
}

/// Structs and numbers of the header are those that the engine reads and writes: a field at another
/// place is a law that decides on other facts.
#[test]
fn the_header_says_what_the_engine_does() {
    let options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"];
    let said = compile("cc", &options, "layout.c", &program());
    assert_eq!(said.expect("there is a C compiler, or Rust had no linker"), "");
    // A program that says otherwise is refused, so that the first is a test.
    let wrong = program() + "_Static_assert(sizeof(forebay_law) == 1, \"\");\n";
    let said = compile("cc", &options, "wrong.c", &wrong).unwrap();
    assert!(said.contains("static assertion"), "{said}");
}

/// C++ takes the header as well, where there is a compiler of it.
#[test]
fn the_header_is_one_of_cpp_too() {
    let text = "#include \"forebay_law.h\"\nint main() { return FOREBAY_PASS; }\n";
    let options = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"];
    let said = compile("c++", &options, "header.cpp", text);
    assert_eq!(said.unwrap_or_default(), "");
}
