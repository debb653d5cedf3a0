//! Findings about CUBIC of QUIC stacks, beside RFC 9438: docs/stacks/cubic.md has them in words.

#![expect(clippy::disallowed_methods, reason = "bounds for comparison, which no run depends on")]

#[path = "cubic/measure.rs"]
mod measure;

use forebay_host::Stack;
use forebay_host::quic::{noq, quinn};
use measure::{BETA, C, Epoch, LONG, SHORT, epochs, of_model, of_stack};

fn stacks() -> [Box<dyn Stack>; 2] {
    [
        Box::new(quinn::Configured::new("quinn cubic", "cubic").expect("it has CUBIC")),
        Box::new(noq::Configured::new("noq cubic", "cubic").expect("it has CUBIC")),
    ]
}

/// The growth of equation 1 in two round trips: by so much a window may be beside it, since time
/// begins with the reduction here and when recovery ends there, a round trip later, and the window
/// follows the target of a round trip later. And one segment, in which it grows.
fn allowed(epoch: &Epoch, time: f64, rtt: f64) -> f64 {
    let slope = |time: f64| 3.0 * C * (time - epoch.k()) * (time - epoch.k());
    2.0 * rtt * slope((time - 2.0 * rtt).max(0.0)) + 1.0
}

/// After a loss above the last maximum the window is 0.7 of what it was (section 4.6) and follows
/// equation 1 (section 4.2).
#[test]
fn windows_follow_the_cubic_function() {
    for stack in stacks() {
        let (name, windows) = (stack.name(), of_stack(&*stack, &LONG));
        let epochs = epochs(&windows, LONG.rtt);
        let [_, epoch, _] = &epochs[..] else { panic!("{name}: {} losses", epochs.len()) };
        let ratio = epoch.after / epoch.before;
        // A segment, by which the window may have grown with the same acknowledgement.
        assert!((ratio - BETA).abs() < 1.0 / epoch.before, "{name}: {ratio}");
        for (time, window) in epoch.windows.iter().filter(|(time, _)| *time <= epoch.k()) {
            let due = epoch.cubic(*time);
            let apart = (window - due).abs();
            assert!(apart <= allowed(epoch, *time, LONG.rtt), "{name}: {time} s: {window}, {due}");
        }
    }
}

/// A finding: behind fast convergence the stacks stand still. Equation 2 of RFC 9438 has the curve
/// begin at the window, so that this grows at once. They have K of RFC 8312 (its equation 2), which
/// begins at 0.7 W_max: where W_max was reduced to 0.85 of the window, that is 0.595 of it, below
/// the 0.7 that it has. It grows when the curve, a round trip ahead, has passed it by a segment.
#[test]
fn stacks_stand_still_behind_fast_convergence() {
    for stack in stacks() {
        let epochs = epochs(&of_stack(&*stack, &LONG), LONG.rtt);
        let epoch = &epochs[2];
        assert!(epoch.maximum < epoch.before, "it is below the last maximum");
        let k = (epoch.maximum * (1.0 - BETA) / C).cbrt();
        let passes = k - ((epoch.maximum - epoch.after) / C).cbrt() - LONG.rtt;
        let stalls = epoch.stalls().expect("it grows");
        let most = passes + 2.0 * LONG.rtt;
        assert!((passes..most).contains(&stalls), "{}: {stalls}, {passes}", stack.name());
        assert!(passes > 5.0 * LONG.rtt, "a standstill that no recovery explains");
    }
    let model = epochs(&of_model(&LONG), LONG.rtt);
    assert!(model[2].stalls().is_some_and(|time| time < 3.0 * LONG.rtt), "{:?}", model[2].stalls());
}

/// A finding: on a short path the stacks grow by 3 * 0.3 / 1.7 = 0.53 segments a round trip for
/// ever, as RFC 8312 has it, where section 4.3 of RFC 9438 has that up to the window before the
/// last reduction, and one segment from there on, which the model does. Whole segments of a window
/// that is looked at for 50 round trips make a difference of 2 / 50.
#[test]
fn stacks_stay_below_renos_growth_on_short_paths() {
    let growth = |windows: &[(f64, f64)]| {
        let epochs = epochs(windows, SHORT.rtt);
        let from = epochs[0].reaches(epochs[0].before).expect("it gets there") + SHORT.rtt;
        epochs[0].growth(SHORT.rtt, from, from + 50.0 * SHORT.rtt).expect("it grows further")
    };
    for stack in stacks() {
        let growth = growth(&of_stack(&*stack, &SHORT));
        let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
        assert!((growth - alpha).abs() < 0.04, "{}: {growth}", stack.name());
    }
    // A window of 80 segments that acknowledgements of two open has not been full for all of them.
    let growth = growth(&of_model(&SHORT));
    assert!((growth - 1.0).abs() < 0.05, "{growth}");
}
