//! The tests that the guide for protocol implementers and that of scripts show.

use forebay_host::Network;
use forebay_host::quic::quinn;
use forebay_host::quic::quinn::{
    Download, Quic, Serve, client_config, endpoint_config, server_config, transport,
};
use forebay_host::script::Script;
use forebay_host::table::{Table, TableResult};

/// CUBIC of quinn gets its half of a link with FQ-CoDel beside Forebay's, and the link is used.
#[test]
fn cubic_fills_a_bottleneck_with_fq_codel() {
    let mut network = Network::from_toml(include_str!("bottleneck.toml"));
    let server = Quic::server(endpoint_config(1), server_config(transport("cubic")));
    let server = network.attach("server", server, Serve::default());
    let client = Quic::client(endpoint_config(2), client_config(transport("cubic")));
    let download = Download::from(network.address(server), None);
    let client = network.attach("client", client, download);
    let report = network.run(None).unwrap();
    assert!(report.host(client).goodput_bps() > 8e6);
    assert!(report.link("bottleneck").unwrap().utilization > 0.95);
}

/// CUBIC of quinn is close to Forebay's, and no worse than when the baseline was stored.
#[test]
fn cubic_is_no_worse_than_it_was() {
    let table = Table::new()
        .network("bufferbloat")
        .network("policer")
        .stack(quinn::Configured::new("quinn cubic", "cubic").unwrap())
        .model("forebay cubic", "cubic");
    let result = table.run().unwrap();
    let goodput = |stack| result.get("bufferbloat", stack, "goodput_bps").unwrap().mean;
    assert!(goodput("quinn cubic") > 0.9 * goodput("forebay cubic"));
    let stored = TableResult::from_json(include_str!("baseline.json")).unwrap();
    assert_eq!(result.worse_than(&stored), [""; 0]);
}

/// A single loss reduces the window once: all else on the path is as it was.
#[test]
fn one_loss_reduces_the_window_once() {
    let mut network = Network::from_toml(include_str!("path.toml"));
    let stack = quinn::Configured::new("quinn cubic", "cubic").unwrap();
    network.take_over("download", &stack, 1).unwrap();
    let [server, client] = network.pairs_of("download")[0];
    network.script(server, client, Script::new().lose(40));
    let report = network.run(None).unwrap();
    let windows = report.sent(server).iter().map(|sent| sent.probe("cwnd_bytes"));
    let windows: Vec<f64> = windows.collect();
    let falls = windows.windows(2).filter(|pair| pair[1] < pair[0]);
    let ratios: Vec<f64> = falls.map(|pair| pair[1] / pair[0]).collect();
    // RFC 9438, section 4.6: by 0.7, of a window that has grown since the datagram before.
    assert!(matches!(ratios[..], [ratio] if (0.7..0.75).contains(&ratio)), "{ratios:?}");
}
