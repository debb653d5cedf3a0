//! The reader and the runner on scripts that are wrong, strange, or written for other programs.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]
#![expect(clippy::disallowed_methods, reason = "the scripts are files")]

use std::fs;
use std::path::Path;

use forebay_scripts::Script;
use proptest::prelude::*;

/// The message with which `text` is refused.
fn refused(text: &str) -> String {
    let result = Script::read(text, "x.pkt", &[]).and_then(|script| script.run());
    result.map(|report| report.difference.join("\n")).unwrap_err().to_string()
}

/// Behind `text`, what makes a script of a sender of it.
fn sender(text: &str) -> String {
    format!("--mss=1000 B\n0 write(4, ..., 3000) = 3000\n{text}")
}

/// The difference that `text` ends with.
fn difference(text: &str) -> Vec<String> {
    Script::read(text, "x.pkt", &[]).unwrap().run().unwrap().difference
}

/// Slips are located and explained: a message has their place and what is allowed there.
#[test]
fn slips_are_located_and_explained() {
    for (text, place, message) in [
        ("", "x.pkt: nothing", "write(4, ..., 1000) = 1000"),
        ("hello", "line 1, column 1", "a time such as +0.100"),
        ("* > . 1:1(0) ack 1", "line 1, column 1", "the tolerance is 0"),
        ("0~+1 > . 1:1(0) ack 1", "line 1, column 2", "one instant"),
        ("\n  1.2.3 write(4, ..., 1) = 1", "line 2, column 3", "with 12 decimals"),
        ("1 write(4, ..., 1) = 1\n0 write(4, ..., 1) = 1", "line 2, column 1", "before the last"),
        ("9999999 write(4, ..., 1) = 1", "line 1, column 1", "too late"),
        ("99999999999 write(4, ..., 1) = 1", "line 1, column 1", "at most 1000000 s"),
        ("0 wirte(4, ..., 1) = 1", "line 1, column 3", "write, send, socket"),
        ("0 write(4, ..., x) = 1", "line 1, column 3", "a number of bytes"),
        ("0 write(4, ..., 10) = 9", "line 1, column 23", "all 10 bytes"),
        ("0 write(4, ..., 10", "line 1, column 3", "has no end"),
        ("--mss=1000\n0 write(4, ..., 1) = 1", "line 1, column 1", "--mss: 1000"),
        ("--msss=1 B", "line 1, column 1", "did you mean \"mss\""),
        ("--control=cubik\n0 write(4, ..., 1) = 1", "line 1, column 1", "did you mean \"cubic\""),
        ("--control.c=0.5", "line 1, column 1", "name the control first"),
        ("--mss", "line 1, column 1", "KEY=VALUE"),
        ("0 write(4, ..., 1) = 1\n--mss=9 B", "line 2, column 1", "at the head"),
        ("0 < . 1:1001(1000) ack 1", "line 1, column 3", "at most 536 (--mss)"),
        ("0 < . 1:101(99) ack 1", "line 1, column 8", "does not hold 99 bytes"),
        ("0 < . 1:101", "line 1, column 12", "\"(\" as in"),
        ("0 < U. 1:101(100) ack 1", "line 1, column 5", "flag \"U\""),
        ("0 < [ect2] . 1:101(100) ack 1", "line 1, column 6", "noecn, ect0, ect1, ce, ect01"),
        ("0 < . 1:101(100)", "line 1, column 5", "no \"ack\""),
        ("0 < . 1:101(100) ack 1 <sak 1:2>", "line 1, column 25", "did you mean \"sack\""),
        ("0 < . 1:101(100) ack 1 <nop", "line 1, column 28", "\",\" or \">\""),
        ("0 < . 1:101(100) ack 1 <sack 2:2>", "line 1, column 29", "is empty"),
        ("0 < . 1:1(0) ack 1 win 0", "line 1, column 23", "a window of 0"),
        ("0 %{ assert 1", "line 1, column 3", "ends with }%"),
        ("0 %{ assert tcpi_snd_cwn == 1 }%", "line 1, column 13", "did you mean \"tcpi_snd_cwnd\""),
        ("/* never ends", "line 1, column 1", "ends with */"),
        ("0 `never ends", "line 1, column 3", "ends with a backquote"),
        ("0 < S 0:0(0)\n0 < S 0:0(0)", "line 2, column 5", "a SYN"),
        ("0 < F. 1:3(2) ack 1", "line 1, column 5", "FIN with data"),
    ] {
        let read = refused(text);
        assert!(read.contains(place) && read.contains(message), "{text:?}: {read}");
    }
}

/// Scripts that ask for what the model lacks are refused, not taken for others.
#[test]
fn what_the_model_lacks_is_refused() {
    for (text, message) in [
        (sender("0 < . 1:501(500) ack 1"), "data in both directions"),
        (sender("0 < . 1:1(0) ack 501"), "501 is no limit of a segment sent so far"),
        (sender("0 < . 1:1(0) ack 9001"), "the nearest are 3001"),
        (sender("0 < . 1:1(0) ack 1 <sack 1:1001>"), "which is the next one expected"),
        (
            sender("0 < . 1:1(0) ack 1 <sack 1001:2001>\n0 < . 1:1(0) ack 1001"),
            "byte 1001 was reported in a block",
        ),
        (sender("0 < . 1:1(0) ack 1 <TS val 1 ecr 1>"), "--timestamps is false"),
        (sender("0 < . 5:5(0) ack 1"), "1:1(0)"),
        (format!("--recovery=reno\n{}", sender("0 < . 1:1(0) ack 1 <sack 1001:2001>")), "not sack"),
        (format!("--timestamps=true\n{}", sender("0 < . 1:1(0) ack 1 <TS val 1 ecr 9>")), "later"),
        ("0 < . 1:101(100) ack 1\n0 < . 51:151(100) ack 1".to_owned(), "overlap"),
        ("0 < . 1:101(100) ack 1\n0 %{ assert 1 }%".to_owned(), "state of a sender alone"),
        ("0 < . 101:201(100) ack 1".to_owned(), "no whole number of segments"),
    ] {
        // What is sent is as expected up to the event in question.
        let sent = "+0 > . 1:1001(1000) ack 1\n+0 > . 1001:2001(1000) ack 1\n\
                    +0 > . 2001:3001(1000) ack 1\n";
        let text = text.replacen("= 3000\n", &format!("= 3000\n{sent}"), 1);
        let read = refused(&text);
        assert!(read.contains(message), "{text:?}: {read}");
    }
}

/// Usual scripts, written for another program, are read as they are: set-up, handshake, options and
/// calls that the model does not have are read, and what both SYNs offer sets the parameters.
#[test]
fn usual_scripts_are_read() {
    let text = "// A usual one.\n\
        `sysctl -q net.ipv4.tcp_sack=1`\n\
        --tolerance_usecs=10000\n\
        0   socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
        +0  setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n\
        +0  bind(3, ..., ...) = 0 /* any\n port */\n\
        +0  listen(3, 1) = 0\n\
        +0  < SEW 0:0(0) win 32792 <mss 1012,sackOK,TS val 0 ecr 0,nop,wscale 7>\n\
        +0  > SE. 0:0(0) ack 1 <mss 1460,sackOK,TS val 0 ecr 0,nop,wscale 8>\n\
        +.1 < . 1:1(0) ack 1 win 257\n\
        +0  accept(3, ..., ...) = 4\n\
        +0  fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n\
        +0  write(4, ..., 2000) = 2000\n\
        +0  > [ect0] . 1:1001(1000) ack 1 <nop,nop,TS val 100 ecr 0>\n\
        +0  > [ect0] P. 1001:2001(1000) ack 1 <...>\n\
        +.1 < . 1:1(0) ack 2001 win 257 <nop,nop,TS val 200 ecr 100>\n\
        +0  %{\nassert tcpi_snd_mss == 1000\nassert tcpi_unacked == 0, tcpi_unacked\n}%\n\
        +0  read(4, ..., 100) = -1 EAGAIN (Resource temporarily unavailable)\n\
        +.1 close(4) = 0\n\
        +0  > F. 2001:2001(0) ack 1\n";
    let script = Script::read(text, "usual.pkt", &[]).unwrap();
    let report = script.run().unwrap();
    assert_eq!((report.difference, report.checks), (Vec::<String>::new(), 4));
    assert_eq!(script.heading.purpose, "A usual one.");
    // The line counts more than the handshake, and an assignment more than the line.
    let reno = text.replacen("--tol", "--recovery=reno\n--tol", 1);
    let set = ["mss=500 B".to_owned()];
    let script = Script::read(&reno, "usual.pkt", &set).unwrap();
    assert!(script.run().unwrap().difference.iter().any(|line| line.contains("1:501(500)")));
}

/// Differences show both sides: what was expected and what the model did instead.
#[test]
fn differences_show_both_sides() {
    let text = "--mss=1000 B\n0 write(4, ..., 2000) = 2000\n+0 > . 1:1001(1000) ack 1\n\
                +0.000001 > . 1001:2001(1000) ack 1\n+1 %{ assert tcpi_snd_cwnd == 9 }%\n";
    let wanted = [
        "         0.000000 line 2: write(4, ..., 2000) = 2000",
        "         0.000000 line 3: > . 1:1001(1000) ack 1",
        "-        0.000001 line 4: > . 1001:2001(1000) ack 1",
        "+        0.000000 > . 1001:2001(1000) ack 1",
        "+        1.000000 > . 1:1001(1000) ack 1",
        "-        1.000001 line 5: assert tcpi_snd_cwnd == 9",
        "+        1.000001 tcpi_snd_cwnd is 1",
    ];
    assert_eq!(difference(text), wanted);
    let unseen = "--mss=1000 B\n0 write(4, ..., 10) = 10\n+0 > . 1:11(10) ack 1\n\
                  +.1 > . 1:11(10) ack 1\n";
    assert_eq!(difference(unseen).last().unwrap(), "-        0.100000 line 4: > . 1:11(10) ack 1");
    let unexpected = "--mss=1000 B\n0 write(4, ..., 10) = 10\n";
    assert_eq!(difference(unexpected).last().unwrap(), "+        0.000000 > . 1:11(10) ack 1");
}

/// Read and run, whatever it is.
fn survive(text: &str) {
    if let Ok(script) = Script::read(text, "x.pkt", &[]) {
        let _ = script.run();
    }
}

/// First segments and lengths of SACK blocks.
fn blocks() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0_u64..7, 1_u64..3), 0..3)
}

const PIECES: [&str; 32] = [
    "0 ",
    "+.1 ",
    "+1000 ",
    "< ",
    "> ",
    ". ",
    "E. ",
    "W. ",
    "S ",
    "F. ",
    "[ce] ",
    "[ect0] ",
    "1:1(0) ",
    "1:1001(1000) ",
    "1001:2001(1000) ",
    "2001:2301(300) ",
    "ack 1 ",
    "ack 1001 ",
    "ack 2001 ",
    "win 5 ",
    "<sack 1001:2001> ",
    "<sack 2001:2301 1:1001> ",
    "<TS val 1 ecr 0> ",
    "<nop,nop> ",
    "write(4, ..., 2300) = 2300 ",
    "close(4) = 0 ",
    "\n",
    "--mss=1000 B\n",
    "--ecn=true\n",
    "--timestamps=true\n",
    "%{ assert cwnd > 1 }% ",
    "// x\n",
];

/// The scripts of the repository.
fn texts() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/tcp-scripts");
    let inside = |path: &Path| fs::read_dir(path).into_iter().flatten().map(|e| e.unwrap().path());
    let files = inside(&folder).flat_map(|rfc| inside(&rfc).collect::<Vec<_>>());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any text is read or refused: a file that is no script causes no panic.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        survive(&text);
    }

    /// Any row of pieces of a script is survived, by the reader and by the model.
    #[test]
    fn any_row_of_pieces_is_survived(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
    ) {
        survive(&pieces.concat());
    }

    /// Any slip of the pen in a right script is survived.
    #[test]
    fn any_slip_is_survived(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\n]"), 1..4),
    ) {
        let texts = texts();
        let mut signs: Vec<char> = which.get(&texts).chars().collect();
        // Behind the first comment, where slips matter.
        let body = signs.windows(3).position(|w| w == ['\n', '-', '-']).unwrap();
        for (place, sign) in slips {
            let at = body + place.index(signs.len() - body);
            signs.splice(at..=at, sign.chars());
        }
        survive(&signs.into_iter().collect::<String>());
    }

    /// Any acknowledgements are survived by the sender, even those that no receiver sends: any
    /// numbers, any blocks, in any kind of recovery.
    #[test]
    fn any_acknowledgements_are_survived(
        recovery in prop::sample::select(&["sack", "newreno", "reno"][..]),
        keep in any::<bool>(),
        acks in prop::collection::vec(
            (0_u64..9, blocks(), 0_u64..900, any::<bool>()), 1..40,
        ),
    ) {
        let policy = if keep { "keep" } else { "clear" };
        let mut text = format!(
            "--mss=1000 B\n--initial_window=8 packets\n--ecn=true\n--recovery={recovery}\n\
             --sack_at_timeout={policy}\n0 write(4, ..., 20000) = 20000\n"
        );
        for (number, blocks, ms, ece) in acks {
            let flags = if ece { "E." } else { "." };
            text += &format!("+.{ms:03} < {flags} 1:1(0) ack {}", 1 + 1000 * number);
            if recovery == "sack" && !blocks.is_empty() {
                let list = blocks.iter().map(|(first, length)| {
                    format!(" {}:{}", 1 + 1000 * first, 1 + 1000 * (first + length))
                });
                text += &format!(" <sack{}>", list.collect::<String>());
            }
            text.push('\n');
        }
        survive(&text);
    }
}
