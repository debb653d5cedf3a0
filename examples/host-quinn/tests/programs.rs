//! The programs as README.md has them run.

#![expect(clippy::disallowed_types, reason = "these tests run programs")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Output of `program` with `arguments`, given `input`.
fn run(program: &str, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it was built for this test");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("programs write UTF-8")
}

const STACKS: &str = env!("CARGO_BIN_EXE_host-quinn");

/// A download by quinn gets its half of 20 Mbit/s beside Forebay's CUBIC, less headers, of which
/// each packet of 1500 B has at most 60; and the windows of both come as a table.
#[test]
fn a_download_gets_its_half() {
    let output = run(env!("CARGO_BIN_EXE_download"), &[], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let rows: Vec<&str> = text(&output.stdout).lines().collect();
    assert_eq!((rows[0], rows.len()), ("time_s,quinn_bytes,cubic_bytes", 1 + 20 * 50));
    let rate = |name: &str| -> f64 {
        let line = text(&output.stderr).lines().find(|line| line.starts_with(name));
        let word = line.and_then(|line| line.rsplit(' ').nth(1)).expect("it says the rate");
        word.parse().expect("a rate is a number")
    };
    for name in ["quinn: ", "Forebay's CUBIC: "] {
        assert!((8.6..10.1).contains(&rate(name)), "{name}{}", rate(name));
    }
}

/// The program of stacks says which it has, runs cells, and answers those that it cannot run with
/// a reason, in the words of the protocol of `forebay stacks`.
#[test]
fn the_program_of_stacks_runs_cells() {
    let listed = run(STACKS, &["list"], "");
    let listed = text(&listed.stdout).to_owned();
    for name in ["quinn cubic", "quinn newreno", "noq cubic", "noq bbr3"] {
        assert!(listed.contains(&format!("\"name\":\"{name}\"")), "{listed}");
    }
    let cell = |number: u32, stack: &str, network: &str| {
        format!(
            "{{\"cell\": {number}, \"stack\": \"{stack}\", \"network\": \"{network}\", \
             \"set\": [\"duration=6 s\"], \"seed\": null, \"replication\": 1}}\n"
        )
    };
    let asked = [
        cell(0, "quinn cubic", "policer"),
        cell(1, "quinn cubics", "policer"),
        cell(2, "noq cubic", "no such network"),
        cell(3, "quinn cubic", "policer"),
    ];
    let output = run(STACKS, &["cells"], &asked.concat());
    assert!(output.status.success());
    let answers: Vec<&str> = text(&output.stdout).lines().collect();
    assert!(answers[0].contains("\"name\":\"stack\"") && answers[0].starts_with("{\"cell\":0,"));
    assert_eq!(answers[0].replacen("\"cell\":0", "\"cell\":3", 1), answers[3], "it repeats");
    assert!(
        answers[1].contains("stack quinn cubics: is not one of quinn cubic,"),
        "{}",
        answers[1]
    );
    assert!(answers[2].contains("no such network: cannot be read: "), "{}", answers[2]);
}

/// Requests that are none, and arguments that are wrong, end with status 2 and a message.
#[test]
fn wrong_requests_end_with_status_2() {
    for (arguments, input, message) in [
        (&["cells"][..], "{\"cell\": 0}\n", "error: a request is not one: missing field"),
        (&["cells"][..], "[]\n", "error: a request is not one: "),
        (&["table"][..], "", "error: read other arguments; allowed are list, and cells"),
        (&[][..], "", "error: read other arguments"),
    ] {
        let output = run(STACKS, arguments, input);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with(message), "{}", text(&output.stderr));
    }
}
