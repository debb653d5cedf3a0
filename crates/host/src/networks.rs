//! Networks that are ready to use.

macro_rules! networks {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../networks/", $name, ".toml")))),*]
    };
}

/// The networks, by name: scenarios whose flows under test are the group `stack`.
pub const NETWORKS: &[(&str, &str)] = &networks![
    "bbr-draft",
    "bufferbloat",
    "ecn-bleaching",
    "incast",
    "l4s-mix",
    "lte",
    "parking-lot",
    "policer",
    "reordering",
    "rfc8867",
    "satellite",
    "wifi-bursts",
];

/// The text of the network called `name`.
#[must_use]
pub fn network(name: &str) -> Option<&'static str> {
    NETWORKS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
