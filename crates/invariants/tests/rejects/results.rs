//! Forged results: documents, distributions, series.

use forebay_invariants::Invariant as Must;
use serde_json::{Value, json};

use crate::Case;
use crate::scene::Scene;

/// The document of a run, as it should be.
fn sound() -> Value {
    let flow = json!({
        "name": "x", "group": "x", "sent_packets": 10, "delivered_packets": 8,
        "dropped_packets": 2, "marked_packets": 0, "retransmissions": 0, "timeouts": 0,
        "sent_acks": 0, "dropped_acks": 0, "mean_delay_s": 0.1, "max_delay_s": 0.2,
    });
    let quantiles =
        json!({"min": 1.0, "p05": 1.0, "p25": 2.0, "p50": 3.0, "p75": 4.0, "p95": 5.0, "max": 6.0});
    let mut group = flow.clone();
    group["spread"] = json!({ "started": 1, "throughput_bps": quantiles });
    json!({
        "measured_s": 10.0,
        "flows": [flow],
        "groups": [group],
        "links": [{
            "name": "core", "utilization": 0.5, "throughput_bps": 500_000.0, "drops": 2,
            "dropped_packets": [1, 1, 0, 0], "mean_queue_packets": 1.0, "max_queue_packets": 4,
            "drop_reasons": { "overflow": 2, "early": 0 }, "marks": 3,
            "arrived_packets": [5, 5, 0, 0], "departed_packets": [4, 4, 0, 0],
            "departed_bytes": [4000, 400, 0, 0],
        }],
        "classes": [
            { "name": "core[0]", "link": "core", "arrived_packets": 5, "departed_packets": 3,
              "departed_bytes": 3000, "marks": 3, "mean_queue_packets": 0.75,
              "drop_reasons": { "overflow": 2, "early": 0 } },
            { "name": "core[1]", "link": "core", "arrived_packets": 5, "departed_packets": 5,
              "departed_bytes": 1400, "marks": 0, "mean_queue_packets": 0.25,
              "drop_reasons": { "overflow": 0, "early": 0 } },
        ],
        "transfers": [{
            "name": "x", "mean_completion_s": 1.0, "p50_completion_s": 0.9,
            "p95_completion_s": 2.0, "p99_completion_s": 2.0, "p999_completion_s": 3.0,
            "max_completion_s": 3.0,
        }],
        "calls": [{ "name": "c", "blocking_ratio": 0.2, "mean_present": 1.5, "present": 2,
                    "max_present": 2 }],
    })
}

fn forged(s: &mut Scene, forge: impl FnOnce(&mut Value)) {
    let mut result = sound();
    forge(&mut result);
    s.checker.check_result(&result);
}

pub const CASES: &[Case] = &[
    (Must::ResultUtilization, |s| forged(s, |r| r["links"][0]["utilization"] = json!(1.1))),
    (Must::ResultUtilization, |s| {
        // 1 Mbit/s, and 65535 B within 10 s.
        forged(s, |r| r["links"][0]["throughput_bps"] = json!(1_053_000.0));
    }),
    (Must::ResultSums, |s| forged(s, |r| r["links"][0]["drops"] = json!(3))),
    (Must::ResultSums, |s| {
        forged(s, |r| r["links"][0]["drop_reasons"]["early"] = json!(1));
    }),
    (Must::ResultSums, |s| forged(s, |r| r["groups"][0]["sent_packets"] = json!(11))),
    (Must::ResultClasses, |s| forged(s, |r| r["classes"][0]["arrived_packets"] = json!(6))),
    (Must::ResultClasses, |s| forged(s, |r| r["classes"][1]["departed_bytes"] = json!(1399))),
    (Must::ResultClasses, |s| forged(s, |r| r["classes"][1]["marks"] = json!(1))),
    (Must::ResultClasses, |s| {
        forged(s, |r| r["classes"][0]["drop_reasons"]["overflow"] = json!(1));
    }),
    (Must::ResultClasses, |s| {
        forged(s, |r| r["classes"][0]["mean_queue_packets"] = json!(0.76));
    }),
    (Must::ResultQuantiles, |s| {
        forged(s, |r| r["groups"][0]["spread"]["throughput_bps"]["p25"] = json!(3.5));
    }),
    (Must::ResultQuantiles, |s| {
        forged(s, |r| r["transfers"][0]["p99_completion_s"] = json!(1.9));
    }),
    (Must::ResultShares, |s| forged(s, |r| r["transfers"][0]["mean_completion_s"] = json!(3.1))),
    (Must::ResultShares, |s| forged(s, |r| r["calls"][0]["blocking_ratio"] = json!(1.2))),
    (Must::ResultShares, |s| forged(s, |r| r["calls"][0]["mean_present"] = json!(2.5))),
    (Must::ResultShares, |s| forged(s, |r| r["flows"][0]["mean_delay_s"] = json!(0.3))),
    (Must::ResultShares, |s| {
        forged(s, |r| r["links"][0]["mean_queue_packets"] = json!(4.5));
    }),
    (Must::ResultHistogram, |s| s.checker.check_histogram("groups.x", 7, 8)),
    (Must::ResultSeries, |s| {
        s.checker.check_series("series/links.core", "arrived_packets", 99.0, 100.0);
    }),
    (Must::ResultUnwatched, |s| s.checker.check_unwatched("digest", "\"0f\"", "\"1e\"")),
];

/// Right results are accepted.
#[test]
fn right_results_break_nothing() {
    let mut s = Scene::new();
    forged(&mut s, |_| {});
    s.checker.check_histogram("groups.x", 8, 8);
    s.checker.check_series("series/links.core", "drops", 100.0, 100.0);
    s.checker.check_unwatched("digest", "\"0f\"", "\"0f\"");
    assert_eq!(s.checker.report().breaches(), []);
    assert!(s.checker.report().checked(Must::ResultQuantiles) > 0);
}
