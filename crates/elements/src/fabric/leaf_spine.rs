//! Leaf-spine fabrics: two tiers of switches, every leaf joined to every spine.

use std::sync::Arc;

use forebay_parameters::{Entry, Parameters, Problem, Section, parameters};
use forebay_units::Rate;

use super::shape::{Branch, BuildShape, FabricShape, Ways};

pub(super) const ENTRY: Entry<BuildShape> = Entry {
    name: "leaf_spine",
    summary: "Two tiers of switches: every leaf is joined to every spine, and hosts to leaves. One \
              leaf without spines is a star.",
    source: "Alizadeh and Edsall, On the data path performance of leaf-spine datacenter fabrics, \
             HOTI 2013",
    example: "leaves = 2\nspines = 2\nhosts = 2",
    fields: LeafSpineParameters::FIELDS,
    probes: &[],
    build: &build,
};

parameters! {
    /// Parameters of a leaf-spine fabric.
    pub struct LeafSpineParameters {
        /// Leaf switches, 1 to 1024.
        leaves: u32, "-";
        /// Spine switches, 1 to 1024; or 0, with one leaf.
        spines: u32, "-";
        /// Hosts of each leaf, 1 to 1024.
        hosts: u32, "-";
        /// Factor by which the hosts of a leaf can send more than its links upwards carry. Or give
        /// the rate of these as `uplink`; 1 if neither is given.
        oversubscription: Option<f64>, "Alizadeh and Edsall, HOTI 2013";
        /// Rate of the links between leaves and spines. Or give `oversubscription`.
        uplink: Option<Rate>, "-";
    }
}

/// The most ports of a switch in one direction.
const MAX_PORTS: u32 = 1024;

fn build(section: &Section<'_>, rate: Rate) -> Result<Arc<dyn FabricShape>, Problem> {
    let own = LeafSpineParameters::read(section)?;
    let LeafSpineParameters { leaves, spines, hosts, oversubscription, uplink } = own;
    for (key, number) in [("leaves", leaves), ("hosts", hosts), ("spines", spines.max(1))] {
        if !(1..=MAX_PORTS).contains(&number) {
            let message = format!("{number} is out of range; allowed are 1 to {MAX_PORTS}");
            return Err(section.fail(key, message));
        }
    }
    if leaves * hosts > super::MAX_HOSTS {
        let message = format!(
            "{hosts} make {} hosts with {leaves} leaves; allowed are up to {} in all",
            leaves * hosts,
            super::MAX_HOSTS
        );
        return Err(section.fail("hosts", message));
    }
    if spines == 0 && leaves > 1 {
        let message = "is zero: nothing joins the leaves; allowed are numbers from 1";
        return Err(section.fail("spines", message));
    }
    let uplink = match (uplink, oversubscription) {
        (Some(_), Some(_)) => {
            let message = "there is an oversubscription already; use one of the two keys";
            return Err(section.fail("uplink", message));
        }
        (Some(uplink), None) if uplink.bps() == 0 => {
            return Err(section.fail("uplink", "is zero; a link needs a rate above 0"));
        }
        (Some(uplink), None) => uplink,
        (None, factor) => {
            let all = rate.bps() as f64 * f64::from(hosts) / f64::from(spines.max(1));
            super::rate_between(section, all, factor.unwrap_or(1.0))?
        }
    };
    Ok(Arc::new(LeafSpine { leaves, spines, hosts, rate, uplink }))
}

/// A leaf-spine fabric: hosts leaf by leaf, then leaves, then spines.
pub(super) struct LeafSpine {
    pub(super) leaves: u32,
    pub(super) spines: u32,
    /// Hosts of a leaf.
    pub(super) hosts: u32,
    pub(super) rate: Rate,
    pub(super) uplink: Rate,
}

impl LeafSpine {
    /// Number of the first leaf.
    fn leaf(&self) -> u32 {
        self.leaves * self.hosts
    }

    /// Number of the first spine.
    fn spine(&self) -> u32 {
        self.leaf() + self.leaves
    }
}

impl FabricShape for LeafSpine {
    fn hosts(&self) -> u32 {
        self.leaf()
    }

    fn nodes(&self) -> u32 {
        self.spine() + self.spines
    }

    fn name(&self, node: u32) -> String {
        let (leaf, spine) = (self.leaf(), self.spine());
        match node {
            host if host < leaf => format!("h{host}"),
            switch if switch < spine => format!("leaf{}", switch - leaf),
            switch => format!("spine{}", switch - spine),
        }
    }

    fn neighbours(&self, node: u32) -> Vec<u32> {
        let (leaf, spine) = (self.leaf(), self.spine());
        match node {
            host if host < leaf => vec![leaf + host / self.hosts],
            switch if switch < spine => {
                let first = (switch - leaf) * self.hosts;
                (first..first + self.hosts).chain(spine..spine + self.spines).collect()
            }
            _ => (leaf..spine).collect(),
        }
    }

    fn branch(&self, node: u32) -> Branch {
        let (leaf, spine) = (self.leaf(), self.spine());
        match node {
            host if host < leaf => Branch { first: host, hosts: 1, each: 1, up: Ways::one(0) },
            switch if switch < spine => {
                let up = Ways { first: self.hosts, count: self.spines };
                Branch { first: (switch - leaf) * self.hosts, hosts: self.hosts, each: 1, up }
            }
            _ => Branch { first: 0, hosts: leaf, each: self.hosts, up: Ways::NONE },
        }
    }

    fn pod(&self, node: u32) -> Option<u32> {
        let (leaf, spine) = (self.leaf(), self.spine());
        match node {
            host if host < leaf => Some(host / self.hosts),
            switch if switch < spine => Some(switch - leaf),
            _ => None,
        }
    }

    fn tier(&self, node: u32) -> u32 {
        u32::from(node >= self.leaf()) + u32::from(node >= self.spine())
    }

    fn rate_above(&self, _tier: u32) -> Rate {
        self.uplink
    }

    /// Half of the links of spines lead to each half of the leaves; of a star, half of its hosts
    /// send to the others.
    fn bisection(&self) -> f64 {
        let half = |links: u32, rate: Rate| f64::from(links) / 2.0 * rate.bps() as f64;
        let hosts = half(self.leaf(), self.rate);
        if self.spines == 0 {
            hosts
        } else {
            hosts.min(half(self.leaves * self.spines, self.uplink))
        }
    }
}
