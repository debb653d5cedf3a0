//! Class and colour in whole scenarios: what flows, acknowledgements and conditioners do with
//! DSCPs, and what is refused because the two would be taken for one another.

use forebay_scenario::{Control, Invariant, RunOptions, Scenario};

use crate::support::{floats, read, record, run_with, table};

/// A link with `more`, and a TCP flow and datagrams of class EF, with `flows` beside them.
fn scenario(more: &str, flows: &str) -> String {
    format!(
        "duration = \"4 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
         delay = \"10 ms\"\n{more}\n\
         [flows.t]\nfrom = \"a\"\nto = \"b\"\ndscp = \"EF\"\ntcp = {{ ecn = true }}\n\
         [flows.u]\nfrom = \"a\"\nto = \"b\"\ndscp = \"EF\"\nudp = {{}}\n\
         traffic = {{ poisson = {{ rate = \"200 kbit/s\", size = \"250 B\" }} }}\n{flows}\
         [record]\nseries = \"100 ms\"\n"
    )
}

const BY_DSCP: &str = "{ wrr = { dscp = [\"EF\"], classes = [\"droptail\", \"droptail\"] } }";

/// Returns the bytes that each of the two classes of `link` has sent in the end.
fn sent(text: &str, link: &str) -> [f64; 2] {
    let (_, tables) = record(text);
    let series = table(&tables, &format!("series/links.{link}"));
    let last = |class: usize| floats(series, &format!("class_sent_bytes.{class}")).last().copied();
    [0, 1].map(|class| last(class).expect("something is recorded"))
}

/// Acknowledgements carry the class of their flow: data and acknowledgements of EF flows join its
/// class, and nothing else is sent.
#[test]
fn acknowledgements_carry_the_class_of_their_flow() {
    let text = scenario(&format!("queue = {BY_DSCP}\nreverse = {{ queue = {BY_DSCP} }}"), "");
    for link in ["l", "l.reverse"] {
        let [ef, rest] = sent(&text, link);
        assert!(ef > 1000.0 && rest == 0.0, "{link}: {ef}, {rest}");
    }
    let text = text.replace("dscp = \"EF\"\n", "");
    for link in ["l", "l.reverse"] {
        let [ef, rest] = sent(&text, link);
        assert!(ef == 0.0 && rest > 1000.0, "{link}: {ef}, {rest}");
    }
}

/// A meter keeps the class of packets, and remarking changes it: all that passes the meter keeps
/// EF; remarked by colour, what is not green becomes best effort. Packets of one flow may then
/// overtake each other, which is no error.
#[test]
fn meters_keep_classes_and_remarking_changes_them() {
    let meter = "{ token_bucket = { cir = \"100 kbit/s\", cbs = \"3 kB\" } }";
    let metered = format!("conditioners = [{meter}]\nqueue = {BY_DSCP}");
    let [ef, rest] = sent(&scenario(&metered, ""), "l");
    assert!(ef > 0.0 && rest == 0.0);
    let remark = "{ remark = { to = [\"EF\", \"BE\"] } }";
    let remarked = format!("conditioners = [{meter}, {remark}]\nqueue = {BY_DSCP}");
    let text = scenario(&remarked, "");
    let [ef, rest] = sent(&text, "l");
    assert!(ef > 0.0 && rest > 0.0, "{ef}, {rest}");
    check(&text);
}

/// A flow is in the class of its group, there and back: UDP is in class 0, and TCP, of which alone
/// there are acknowledgements, in class 1.
#[test]
fn groups_of_flows_are_classes() {
    let by_group = "{ drr = { flow_groups = [\"u\", \"t\"], classes = [\"droptail\", \"red\"] } }";
    let text = scenario(&format!("queue = {by_group}\nreverse = {{ queue = {by_group} }}"), "");
    let [[u, t], back] = ["l", "l.reverse"].map(|link| sent(&text, link));
    // 200 kbit/s for 4 s are 100 kB: Poisson, 400 packets give or take 20; the bound is five times
    // that.
    assert!((u - 100e3).abs() < 5.0 * 20.0 * 250.0, "{u}");
    assert!(t > 100e3 && back[0] == 0.0 && back[1] > 1000.0, "{t}, {back:?}");
    check(&text);
    let message = problem(&text.replace("[\"u\"", "[\"v\""));
    assert!(message.contains("links.l.queue.drr.flow_groups: there is no group of flows \"v\""));
}

/// Flows that share a class by chance are counted, and a run in which they change classes breaks no
/// invariant: of 40 flows in two classes many collide, and of a single flow none does, as long as
/// its class stays. The function changes ten times a second, at 100 ms and so on up to 4 s,
/// whenever a packet comes.
#[test]
fn flows_are_spread_by_a_hash() {
    let queue = |more: &str| {
        let classes = "classes = [\"droptail\", \"droptail\"]";
        format!("queue = {{ wfq = {{ classify = \"flow_hash\", {classes}{more} }} }}")
    };
    let last = |text: &str, name: &str| {
        let (_, tables) = record(text);
        *floats(table(&tables, "series/links.l"), name).last().expect("something is recorded")
    };
    let crowd =
        |more: &str| scenario(&queue(more), "").replace("tcp = { ecn", "count = 40\ntcp = { ecn");
    for more in ["", ", salt = 3", ", perturb = \"100 ms\""] {
        let text = crowd(more);
        assert!(last(&text, "class_collisions") > 100.0, "{more}");
        let changes = last(&text, "class_perturbations");
        let expected = if more.contains("perturb") { 39.0..=40.0 } else { 0.0..=0.0 };
        assert!(expected.contains(&changes), "{more}: {changes}");
        check(&text);
    }
    let alone = scenario(&queue(""), "");
    let alone = alone.replace("rate = \"200 kbit/s\"", "rate = \"1 bit/s\"");
    assert!(last(&alone, "class_collisions") <= 1.0);
}

/// Flows with packets of several classes that pass each other break no invariant: by ECN codepoint
/// those that TCP sends again are apart, as they are not ECN-capable.
#[test]
fn flows_in_several_classes_break_no_invariant() {
    let by_ecn = "queue = { drr = { ecn_classes = [1, 0, 0, 0], classes = [{ red = { limit = \
                  \"9 packets\", ecn = true } }, { droptail = { limit = \"9 packets\" } }] } }";
    check(&scenario(by_ecn, ""));
}

/// All that must hold in any run holds in that of `text`.
fn check(text: &str) {
    let scenario = read(text);
    let (result, _) = run_with(&scenario, 0, false);
    let report = scenario.check(&RunOptions::default(), &Control::default(), &result);
    let report = report.expect("this run is never cancelled");
    assert_eq!(report.breaches(), []);
    assert!(report.checked(Invariant::LinkOrder) > 100);
}

/// Returns the message about `text`; empty if it is right.
fn problem(text: &str) -> String {
    Scenario::parse(text, "test.toml", &[]).err().map_or(String::new(), |error| error.to_string())
}

/// Colours are not taken for classes, so that green packets do not join the first class without a
/// word: strict priority that goes by precedence because nothing else was said is refused behind a
/// conditioner that writes colours, also inside another queue; and not where the scenario says what
/// classes are, or colours are not written.
#[test]
fn colours_are_not_taken_for_classes() {
    let with = |conditioner: &str, more: &str, inside: bool| {
        let queue = format!("{{ priority = {{ classes = [\"droptail\", \"droptail\"]{more} }} }}");
        let shaped =
            format!("{{ tbf = {{ rate = \"900 kbit/s\", burst = \"3 kB\", queue = {queue} }} }}");
        let queue = if inside { shaped } else { queue };
        problem(&scenario(&format!("conditioner = {conditioner}\nqueue = {queue}"), ""))
    };
    let meter =
        "{ trtcm = { cir = \"1 Mbit/s\", cbs = \"9 kB\", pir = \"2 Mbit/s\", pbs = \"9 kB\" } }";
    for inside in [false, true] {
        let message = with(meter, "", inside);
        assert!(
            message.contains("links.l.queue: \"priority\" would go by precedence"),
            "{message}"
        );
        assert!(message.contains("classify = \"precedence\" if colours are meant"), "{message}");
        for said in ["classify = \"precedence\"", "map = [0, 1]", "dscp = [\"EF\"]"] {
            assert_eq!(with(meter, &format!(", {said}"), inside), "", "{said}");
        }
    }
    // A class of htb has a priority, and is no strict priority.
    let htb = "queue = { htb = { dscp = [\"EF\"], classes = [{ name = \"a\", rate = \"1 Mbit/s\", \
               priority = 1, queue = \"droptail\" }] } }";
    assert_eq!(problem(&scenario(&format!("conditioner = {meter}\n{htb}"), "")), "");
    let only = format!("{{ only = {{ dscp = [\"AF1x\"], of = {meter} }} }}");
    assert!(with(&only, "", false).contains("would go by precedence"));
    let remark = "{ remark = { to = [\"EF\"] } }";
    assert_eq!(with(remark, "", false), "");
}

/// A misspelt class of a flow is refused at its key, with the nearest name or what is allowed.
#[test]
fn wrong_classes_of_flows_are_refused() {
    let flow = |dscp: &str| {
        let more = format!(
            "[flows.w]\nfrom = \"a\"\nto = \"b\"\ndscp = {dscp}\nudp = {{}}\n\
             traffic = {{ cbr = {{ rate = \"1 kbit/s\", size = \"50 B\" }} }}\n"
        );
        problem(&scenario("", &more))
    };
    for right in ["\"AF42\"", "46", "0"] {
        assert_eq!(flow(right), "", "{right}");
    }
    let message = flow("\"AF14\"");
    assert!(
        message.contains("flows.w.dscp") && message.contains("did you mean \"AF1"),
        "{message}"
    );
    assert!(flow("64").contains("allowed are 0 to 63"));
}
