//! A table in a stack's own tests.

use forebay_host::quic::quinn;
use forebay_host::table::{Table, TableResult};

/// Ten lines hold a stack to a model, and to what it did before: CUBIC of quinn fills the line as
/// Forebay's CUBIC does, and a result that is stored is not worse than itself.
#[test]
fn ten_lines_hold_a_stack_to_a_model_and_to_itself() {
    let table = Table::new()
        .network("bufferbloat")
        .network("policer")
        .set("duration=6 s")
        .stack(quinn::Configured::new("quinn cubic", "cubic").unwrap())
        .model("forebay cubic", "cubic");
    let result = table.run().unwrap();
    let goodput = |stack| result.get("bufferbloat", stack, "goodput_bps").unwrap();
    assert!(goodput("quinn cubic").mean > 0.9 * goodput("forebay cubic").mean);
    let stored = TableResult::from_json(&result.to_json()).unwrap();
    assert_eq!(result.worse_than(&stored), [""; 0]);

    let worse = table.set("links.bottleneck.rate=5 Mbit/s").run().unwrap().worse_than(&stored);
    assert!(worse.iter().any(|line| line.starts_with("bufferbloat, quinn cubic: goodput_bps was")));
    assert!(result.markdown().contains("| goodput_bps | forebay cubic | quinn cubic |"));
}

/// Names that are wrong are answered with those that there are.
#[test]
fn unknown_networks_and_controls_are_refused() {
    let table = Table::new().model("forebay cubic", "cubic");
    let unknown = table.network("bufferbloats").run().unwrap_err().to_string();
    assert!(unknown.starts_with("network bufferbloats: is not one of bbr-draft, bufferbloat,"));
    let unknown = Table::new().network("policer").model("x", "cubics").run().unwrap_err();
    assert!(unknown.to_string().contains("policer, x, replication 0: "), "{unknown}");
}
