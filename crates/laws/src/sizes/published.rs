//! Distributions of sizes that were measured and published, and on which many papers compare
//! transports.

use std::sync::Arc;

use forebay_kernel::Stream;
use forebay_kernel::math::{exp_m1, pow};
use forebay_parameters::{Entry, Problem, Section};
use forebay_units::Size;

use super::cdf::Cdf;
use super::{BuildSizes, SizeDistribution, whole};

/// Points of a cumulative distribution: bytes, and per cent of sizes up to these.
type Points = &'static [(f64, f64)];

/// Those read off figure 4 of the paper (background flows) for pFabric and HPCC.
const WEB_SEARCH_POINTS: Points = &[
    (0.0, 0.0),
    (10e3, 15.0),
    (20e3, 20.0),
    (30e3, 30.0),
    (50e3, 40.0),
    (80e3, 53.0),
    (200e3, 60.0),
    (1e6, 70.0),
    (2e6, 80.0),
    (5e6, 90.0),
    (10e6, 97.0),
    (30e6, 100.0),
];

/// Packets of this many bytes are what sizes were counted in where the points were published.
const SEGMENT: f64 = 1460.0;

/// Those read off figure 2 of the paper for pFabric.
const DATA_MINING_POINTS: Points = &[
    (SEGMENT, 50.0),
    (2.0 * SEGMENT, 60.0),
    (3.0 * SEGMENT, 70.0),
    (7.0 * SEGMENT, 80.0),
    (267.0 * SEGMENT, 90.0),
    (2107.0 * SEGMENT, 95.0),
    (66_667.0 * SEGMENT, 99.0),
    (666_667.0 * SEGMENT, 100.0),
];

/// Those read off figure 6a of the paper (Hadoop, all) for HPCC.
const HADOOP_POINTS: Points = &[
    (0.0, 0.0),
    (100.0, 1.0),
    (200.0, 2.0),
    (300.0, 5.0),
    (350.0, 15.0),
    (400.0, 20.0),
    (500.0, 30.0),
    (600.0, 40.0),
    (700.0, 50.0),
    (1e3, 60.0),
    (2e3, 67.0),
    (7e3, 70.0),
    (30e3, 72.0),
    (50e3, 82.0),
    (80e3, 87.0),
    (120e3, 90.0),
    (300e3, 95.0),
    (1e6, 97.5),
    (2e6, 99.0),
    (10e6, 100.0),
];

const fn entry(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    build: BuildSizes,
) -> Entry<BuildSizes> {
    Entry { name, summary, source, example: "", fields: &[], probes: &[], build }
}

pub(super) const WEB_SEARCH: Entry<BuildSizes> = entry(
    "web_search",
    "Flows of a cluster for web search: 1.7 MB on average, half of them below 80 kB.",
    "Alizadeh et al. (DCTCP), SIGCOMM 2010, figure 4; points as in Li et al. (HPCC), SIGCOMM 2019",
    &|section| points(section, WEB_SEARCH_POINTS),
);

pub(super) const DATA_MINING: Entry<BuildSizes> = entry(
    "data_mining",
    "Flows of a cluster for data mining: 7.5 MB on average, half of them of one segment.",
    "Greenberg et al. (VL2), SIGCOMM 2009, figure 2; points as in Alizadeh et al. (pFabric), \
     SIGCOMM 2013",
    &|section| points(section, DATA_MINING_POINTS),
);

pub(super) const HADOOP: Entry<BuildSizes> = entry(
    "hadoop",
    "Flows of a Hadoop cluster: 120 kB on average, half of them below 700 B.",
    "Roy et al., SIGCOMM 2015, figure 6; points as in Li et al. (HPCC), SIGCOMM 2019",
    &|section| points(section, HADOOP_POINTS),
);

pub(super) const CACHE: Entry<BuildSizes> = entry(
    "cache",
    "Values of a key-value cache (Memcached, ETC): 329 B on average. Generalized Pareto, as fitted \
     to values from 15 B; the table for smaller ones is left out.",
    "Atikoglu et al., SIGMETRICS 2012, section 5",
    &|section| {
        section.refuse_unknown(&[])?;
        Ok(Arc::new(GeneralizedPareto { scale: 214.476, shape: 0.348_238 }))
    },
);

fn points(section: &Section<'_>, points: Points) -> Result<Arc<dyn SizeDistribution>, Problem> {
    section.refuse_unknown(&[])?;
    let shares = points.iter().map(|(bytes, percent)| (*bytes, percent / 100.0));
    Ok(Arc::new(Cdf::new(shares.collect())))
}

/// The share of sizes above x is (1 + shape x / scale)^(-1 / shape).
struct GeneralizedPareto {
    scale: f64,
    shape: f64,
}

impl SizeDistribution for GeneralizedPareto {
    /// -ln of the share above is exponential.
    fn draw(&self, stream: &mut Stream) -> Size {
        whole(self.scale / self.shape * exp_m1(self.shape * stream.exponential()))
    }

    fn mean(&self) -> f64 {
        self.scale / (1.0 - self.shape)
    }

    fn above(&self, bytes: f64) -> f64 {
        pow(1.0 + self.shape * bytes / self.scale, -1.0 / self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_mean, has_share, read};

    /// Means are those of the points, so that a workload has the load of the papers that use it.
    /// The means of the points, by hand: of web search 0.15 * 5 + 0.05 * 15 + 0.1 * 25 + 0.1 * 40 +
    /// 0.13 * 65 + 0.07 * 140 + 0.1 * 600 + 0.1 * 1500 + 0.1 * 3500 + 0.07 * 7500 + 0.03 * 20,000 =
    /// 1711.25 kB, the mean that simulations with these points state. Of data mining 0.5 + 0.1 *
    /// 1.5 + 0.1 * 2.5 + 0.1 * 5 + 0.1 * 137 + 0.05 * 1187 + 0.04 * 34,387 + 0.01 * 366,667 =
    /// 5116.6 segments, theirs being 5117. Of Hadoop, in bytes: 0.5 + 1.5 + 7.5 + 32.5 + 18.75 +
    /// 45 + 55 + 65 + 85 + 105 + 135 + 370 + 4000 + 3250 + 3000 + 10,500 + 16,250 + 22,500 +
    /// 60,000 = 120,420.75, each the share of an interval times its middle. Of the cache
    /// 214.476 / (1 - 0.348238) = 329.071 B.
    #[test]
    fn means_are_those_of_the_points() {
        for (name, mean) in [
            ("web_search", 1_711_250.0),
            ("data_mining", 5116.6 * 1460.0),
            ("hadoop", 120_420.75),
            ("cache", 329.071),
        ] {
            let sizes = read(name, &[]).unwrap();
            assert!((sizes.mean() / mean - 1.0).abs() < 1e-5, "{name}: {}", sizes.mean());
            assert!(has_mean(&draws(&*sizes, 1_000_000), mean), "{name}");
        }
    }

    /// The tail of cached values is that of the paper: above 1 kB lies (1 + 0.348238 * 1000 /
    /// 214.476)^(-1 / 0.348238) = 2.623669^-2.871599 = 0.062670 of them.
    #[test]
    fn few_cached_values_are_large() {
        let found = draws(&*read("cache", &[]).unwrap(), 400_000);
        assert!(has_share(&found, 1000.0, 1.0 - 0.062_670));
        assert!(has_share(&draws(&*read("web_search", &[]).unwrap(), 400_000), 80e3, 0.53));
        assert!(has_share(&draws(&*read("data_mining", &[]).unwrap(), 400_000), 1460.0, 0.5));
    }
}
