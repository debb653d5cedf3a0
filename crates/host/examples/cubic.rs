//! Tables of docs/stacks/cubic.md: CUBIC of quinn, of noq and of the model beside RFC 9438.

#![expect(clippy::print_stdout, reason = "it prints tables")]

#[path = "../tests/all/cubic/measure.rs"]
mod measure;

use forebay_host::Stack;
use forebay_host::quic::{noq, quinn};
use measure::{Cell, LONG, SHORT, epochs, of_model, of_stack};

fn main() {
    let stacks: [Box<dyn Stack>; 2] = [
        Box::new(quinn::Configured::new("quinn", "cubic").expect("it has CUBIC")),
        Box::new(noq::Configured::new("noq", "cubic").expect("it has CUBIC")),
    ];
    let rows = |cell: &Cell| {
        let mut rows: Vec<(String, Vec<(f64, f64)>)> = stacks
            .iter()
            .map(|stack| (stack.name().to_owned(), of_stack(&**stack, cell)))
            .collect();
        rows.push(("model".to_owned(), of_model(cell)));
        rows
    };
    println!(
        "| stack | loss | before | after | ratio | W_max | K | 95 %, eq. 1 | 95 % | first growth | \
         furthest from eq. 1 |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, windows) in rows(&LONG) {
        for (number, epoch) in (1..).zip(epochs(&windows, LONG.rtt)) {
            let (apart, at) = epoch.distance();
            let time = |time: Option<f64>| time.map_or("never".to_owned(), |t| format!("{t:.2} s"));
            println!(
                "| {name} | {number} | {:.1} | {:.1} | {:.3} | {:.1} | {:.2} s | {:.2} s | \
                 {} | {} | {:+.1} % at {at:.2} s |",
                epoch.before,
                epoch.after,
                epoch.after / epoch.before,
                epoch.maximum,
                epoch.k(),
                epoch.due(0.95),
                time(epoch.reaches(0.95 * epoch.maximum)),
                time(epoch.stalls()),
                100.0 * apart,
            );
        }
    }
    println!("\n| stack | before | after | below `before` | above it |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, windows) in rows(&SHORT) {
        for epoch in epochs(&windows, SHORT.rtt) {
            let prior = epoch.reaches(epoch.before).expect("it gets there");
            let growth = |from, to| epoch.growth(SHORT.rtt, from, to).expect("it grows further");
            let below = growth(3.0 * SHORT.rtt, prior);
            let above = growth(prior + SHORT.rtt, prior + 51.0 * SHORT.rtt);
            println!(
                "| {name} | {:.1} | {:.1} | {below:.2} | {above:.2} |",
                epoch.before, epoch.after
            );
        }
    }
}
