//! The hierarchical token bucket: who borrows what, by hand.

use forebay_kernel::Streams;
use forebay_laws::LinkFacts;
use forebay_laws::queue::{QUEUES, Queue};
use forebay_network::{FlowId, Packet, QueueDisc, RouteId};
use forebay_parameters::Problem;
use forebay_units::{Rate, Span, Time};

use crate::support::{build, parameters};

/// A link of 10 Mbit/s, in packets of 1000 B.
const RATE: Rate = Rate::from_bps(10_000_000);

fn make(classes: &[&str]) -> Result<Queue, Problem> {
    let entry = QUEUES.iter().find(|entry| entry.name == "htb").expect("it is in the table");
    let text = format!("classes = [{}]\nclassify = \"precedence\"", classes.join(", "));
    build(&parameters(&text), |section| (entry.build)(section, &LinkFacts::of(RATE)))
}

/// Returns the rate of each leaf in Mbit/s, over ten seconds in which those of `busy` always have
/// packets.
fn shares(classes: &[&str], busy: &[usize]) -> Vec<f64> {
    let mut law = make(classes).unwrap_or_else(|problem| panic!("{problem:?}")).into_discipline();
    let mut stream = Streams::new(0, 0).named("test");
    let most = busy.iter().max().expect("someone sends") + 1;
    let mut sent = vec![0_u64; most];
    let offer = |law: &mut dyn QueueDisc, class: usize, now: Time| {
        let packet = Packet::data(now, FlowId::new(0), 0, 1000, RouteId::new(0))
            .with_precedence(class as u8);
        let mut stream = Streams::new(0, 0).named("test");
        law.enqueue(&packet, None, now, &mut stream, &mut |_, _| panic!("nothing is dropped"));
    };
    for class in busy.iter().flat_map(|class| [*class; 2]) {
        offer(law.as_mut(), class, Time::ZERO);
    }
    let (first, last) = (Time::ZERO + Span::from_s(1), Time::ZERO + Span::from_s(11));
    let mut now = Time::ZERO;
    while now < last {
        match law.dequeue(now, &mut stream, &mut |_, _| panic!("nothing is dropped")) {
            Some(next) => {
                let class = usize::from(next.packet.precedence);
                sent[class] += if now < first { 0 } else { 8 * u64::from(next.packet.size) };
                offer(law.as_mut(), class, now);
                now += RATE.transmission_time(next.packet.wire_size());
            }
            None => {
                let ready = law.ready_at(now);
                assert!(ready > now, "it says until the past");
                now = ready;
            }
        }
    }
    sent.iter().map(|bits| *bits as f64 / 10e6).collect()
}

/// `found` is `expected` to within a hundredth of the link.
fn check(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.1);
    assert!(near, "{found:?}, not {expected:?}");
}

const ROOT: &str = r#"{ name = "all", rate = "10 Mbit/s" }"#;

/// A leaf below `all` with a ceiling of 10 Mbit/s unless `more` says otherwise.
fn leaf(name: &str, rate: u32, more: &str) -> String {
    format!(
        "{{ name = \"{name}\", parent = \"all\", rate = \"{rate} Mbit/s\", {more}, \
         queue = \"droptail\" }}"
    )
}

const CEIL: &str = "ceil = \"10 Mbit/s\"";

/// Classes get their rates, and what one leaves the others borrow. Three classes of 5, 3 and 2
/// Mbit/s on a link of 10: all busy, each has its rate. With the third idle, its 2 are lent in turn
/// by quanta, which are in proportion to rates: 5 + 2 * 5/8 and 3 + 2 * 3/8. With a ceiling of 3.5
/// on the second, it has that and the first the rest. With priority, the second borrows all 2
/// first. Alone, each has the link, or its ceiling.
#[test]
fn what_one_leaves_the_others_borrow() {
    let tree =
        |a: &str, b: &str| [ROOT.to_owned(), leaf("a", 5, a), leaf("b", 3, b), leaf("c", 2, CEIL)];
    let shares = |tree: &[String], busy: &[usize]| {
        shares(&tree.iter().map(String::as_str).collect::<Vec<_>>(), busy)
    };
    let plain = tree(CEIL, CEIL);
    check(&shares(&plain, &[0, 1, 2]), &[5.0, 3.0, 2.0]);
    check(&shares(&plain, &[0, 1]), &[6.25, 3.75]);
    check(&shares(&plain, &[2]), &[0.0, 0.0, 10.0]);
    // With long turns of the first, the second would fill its bucket meanwhile and lose tokens.
    let turn = "quantum = \"3000 B\"";
    let ceiling = tree(&format!("{CEIL}, {turn}"), &format!("ceil = \"3.5 Mbit/s\", {turn}"));
    check(&shares(&ceiling, &[0, 1]), &[6.5, 3.5]);
    check(&shares(&ceiling, &[1]), &[0.0, 3.5]);
    let priority = tree(&format!("{CEIL}, priority = 1"), CEIL);
    check(&shares(&priority, &[0, 1]), &[5.0, 5.0]);
    check(&shares(&priority, &[0, 1, 2]), &[5.0, 3.0, 2.0]);
    // Quanta instead of rates: 2 in equal parts.
    let quanta = tree(&format!("{CEIL}, {turn}"), &format!("{CEIL}, {turn}"));
    check(&shares(&quanta, &[0, 1]), &[6.0, 4.0]);
    // Without ceilings no one borrows, and the link is idle for the rest.
    let strict = tree("priority = 0", "priority = 0");
    check(&shares(&strict, &[0, 1]), &[5.0, 3.0]);
}

/// Bandwidth that a class leaves goes to its siblings before strangers: the lowest class that lends
/// goes first. Of 10 Mbit/s x has 6 (x1 4, x2 2) and y 4; with x2 idle, x1 has all of x's 6, though
/// y would have it; with both idle, y has the link.
#[test]
fn siblings_borrow_before_strangers() {
    let below_x = |name, rate| leaf(name, rate, CEIL).replace("\"all\"", "\"x\"");
    let tree = [
        ROOT.to_owned(),
        r#"{ name = "x", parent = "all", rate = "6 Mbit/s", ceil = "10 Mbit/s" }"#.to_owned(),
        below_x("x1", 4),
        below_x("x2", 2),
        leaf("y", 4, CEIL),
    ];
    let tree = tree.each_ref().map(String::as_str);
    check(&shares(&tree, &[0, 1, 2]), &[4.0, 2.0, 4.0]);
    check(&shares(&tree, &[0, 2]), &[6.0, 0.0, 4.0]);
    check(&shares(&tree, &[2]), &[0.0, 0.0, 10.0]);
}

/// A tree that means something else is refused, and the error points to its place.
#[test]
fn wrong_trees_are_refused_where_they_stand() {
    let path = |classes: &[&str]| make(classes).err().map_or(String::new(), |problem| problem.path);
    let a = leaf("a", 1, CEIL);
    assert_eq!(path(&[ROOT, &a]), "");
    assert_eq!(path(&[]), "classes");
    assert_eq!(path(&[&a]), "classes[0].parent");
    assert_eq!(path(&[ROOT, &a, &a]), "classes[2].name");
    assert_eq!(path(&[ROOT]), "classes[0].queue");
    let wrong = |more: &str| path(&[ROOT, &leaf("a", 2, more)]);
    assert_eq!(wrong("ceil = \"1 Mbit/s\""), "classes[1].ceil");
    assert_eq!(wrong("priority = 8"), "classes[1].priority");
    assert_eq!(wrong("quantum = \"1 B\""), "classes[1].quantum");
    assert_eq!(wrong("queu = 1"), "classes[1].queu");
    assert_eq!(path(&[ROOT, &leaf("a", 0, CEIL)]), "classes[1].rate");
    let root = r#"{ name = "all", rate = "1 Mbit/s", queue = "droptail" }"#;
    assert_eq!(path(&[root]), "");
    assert_eq!(path(&[root, &a]), "classes[0].queue");
    let message = make(&[ROOT, &a.replace("all", "al")]).err().expect("no such parent").message;
    assert!(message.contains("did you mean \"all\""), "{message}");
}
