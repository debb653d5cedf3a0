//! Random fabrics: shapes, ways, memories, failures, and flows between many hosts.

use crate::networks::Draw;

impl Draw {
    /// A fabric, with groups of flows between some of its hosts.
    pub(crate) fn fabric(&mut self) -> String {
        let shape = if self.wanted.0 == "fabric" {
            self.wanted.1
        } else {
            self.one_of(&["fat_tree", "leaf_spine"])
        };
        self.chosen.push(format!("fabric {shape}"));
        let (parameters, hosts, link) = if shape == "fat_tree" {
            let k = self.one_of(&[2, 4]);
            let factor = self.one_of(&["1.0", "2.0"]);
            let parameters = format!("{{ k = {k}, oversubscription = {factor} }}");
            (parameters, k * k * k / 4, "edge0-agg0")
        } else {
            let (leaves, spines, hosts) = (2 + self.below(2), 1 + self.below(3), 1 + self.below(3));
            let parameters = format!("{{ leaves = {leaves}, spines = {spines}, hosts = {hosts} }}");
            (parameters, leaves * hosts, "leaf0-spine0")
        };
        let (path, queue) = (self.mechanism("path", 0), self.mechanism("queue", 0));
        let mut text = format!(
            "[fabrics.\"{}\"]\n{shape} = {parameters}\nrate = \"{} kbit/s\"\ndelay = \"{} ms\"\n\
             path = {path}\nqueue = {queue}\n",
            self.named("dc", 0),
            self.one_of(&[1000, 4000]),
            self.one_of(&[0, 1, 5]),
        );
        if self.chance(0.3) {
            let law = self.mechanism("sharing", 0);
            text += &format!("buffer = {{ memory = \"30 kB\", sharing = {law} }}\n");
        }
        if self.chance(0.3) {
            text += &format!("hosts = {{ queue = {} }}\n", self.mechanism("queue", 0));
        }
        if self.chance(0.3) {
            text += &format!(
                "failures = [{{ link = \"{link}\", down = [\"90 ms\"], up = [\"200 ms\"], \
                 detection = \"{} ms\", waiting = \"{}\" }}]\n",
                self.one_of(&[0, 4]),
                self.one_of(&["kept", "lost"]),
            );
        }
        for group in 0..=self.below(2) {
            text += &self.group_between_hosts(group, hosts);
        }
        text
    }

    fn group_between_hosts(&mut self, group: usize, hosts: usize) -> String {
        let fabric = self.named("dc", 0);
        let some = self.chance(0.4);
        let (from, to, pairs) = if some {
            let to = self.below(hosts);
            (
                format!("\"{fabric}\""),
                format!("[\"{fabric}.h{to}\"]"),
                self.one_of(&["all", "random"]),
            )
        } else {
            let all = format!("\"{fabric}\"");
            (all.clone(), all, "")
        };
        let pairs = if some {
            self.chosen.push(format!("pairs {pairs}"));
            format!("\"{pairs}\"")
        } else {
            self.mechanism("pairs", 0)
        };
        let mut text = format!(
            "[flows.\"{}\"]\nfrom = {from}\nto = {to}\npairs = {pairs}\n",
            self.named("f", group)
        );
        if self.chance(0.5) {
            text += &format!("count = {}\n", 1 + self.below(2 * hosts));
        }
        if self.chance(0.5) {
            self.chosen.push("transport udp".to_owned());
            text += "udp = {}\n\
                     traffic = { poisson = { rate = \"200 kbit/s\", size = \"500 B\" } }\n";
        } else {
            self.chosen.push("transport tcp".to_owned());
            text += &self.tcp(group);
        }
        text
    }
}
