//! The catalogue of mechanisms and the schema of scenario files, from the mechanisms' own
//! definitions.

use forebay_elements::calls::{CallParameters, ProbingParameters, SurgeParameters};
use forebay_elements::media::MediaParameters;
use forebay_elements::paced::{EfcnParameters, FrameParameters, PacedParameters};
use forebay_elements::policer::{BucketParameters, PeakParameters};
use forebay_elements::tcp::TcpParameters;
use forebay_elements::udp::UdpParameters;
use forebay_parameters::{About, Field, Parameters, Probe, Registry, Shelf, Value};
use serde_json::{Map, Value as Json, json};

use crate::columns::words;
use crate::failures::FailureParameters;
use crate::schedules::RateStepParameters;
use crate::sections::{
    AggregateParameters, FlowParameters, LinkParameters, PolicingParameters, RecordParameters,
    ReverseParameters, RingParameters, ScenarioParameters, StationParameters,
};

/// Every mechanism of `registry` and every section of a scenario file, as JSON.
#[must_use]
pub fn catalogue(registry: &Registry) -> String {
    json!({
        "categories": registry.shelves().map(category).collect::<Vec<_>>(),
        "sections": sections().map(|(name, summary, fields, also)| json!({
            "name": name, "summary": summary, "fields": show_fields(fields), "mechanisms": also,
        })).to_vec(),
    })
    .to_string()
}

type SectionRow = (&'static str, &'static str, &'static [Field], &'static [&'static str]);

/// The sections of paced sources and of policing.
const PACED_SECTIONS: [SectionRow; 6] = [
    (
        "flows.NAME.paced",
        "Paced sources: packets at a rate that follows notifications of congestion.",
        PacedParameters::FIELDS,
        &["activity", "pace", "frames", "efcn"],
    ),
    (
        "flows.NAME.paced.frames",
        "Transfers in frames: one with a packet missing is lost, and can be sent again.",
        FrameParameters::FIELDS,
        &[],
    ),
    (
        "flows.NAME.paced.efcn",
        "Explicit forward congestion notification: receivers notify sources whose packets come \
         marked.",
        EfcnParameters::FIELDS,
        &[],
    ),
    (
        "flows.NAME.policing",
        "Policing of each flow of a group by itself: a peak rate controller, a leaky bucket, or \
         both in this order.",
        PolicingParameters::FIELDS,
        &["peak", "bucket"],
    ),
    (
        "flows.NAME.policing.peak",
        "A peak rate controller: it spaces packets.",
        PeakParameters::FIELDS,
        &[],
    ),
    (
        "flows.NAME.policing.bucket",
        "A leaky bucket: a packet needs a token, which come periodically.",
        BucketParameters::FIELDS,
        &[],
    ),
];

/// Rates of a link over time.
const RATE_STEPS: SectionRow = (
    "links.NAME.rate_steps[]",
    "Rates from given times on, of a link or its way back: a list of such tables. What is \
     left of a packet in transmission continues at the new rate.",
    RateStepParameters::FIELDS,
    &[],
);

/// Failures of a link.
const FAILURE: SectionRow = (
    "links.NAME.failure",
    "A link, both directions of it, fails and comes back, and flows take other paths meanwhile.",
    FailureParameters::FIELDS,
    &[],
);

/// Mechanisms of a link, and at last its way back, which has the same.
const LINK_KEYS: [&str; 9] = [
    "queue",
    "conditioner",
    "shaper",
    "detector",
    "explicit_rate",
    "impairment",
    "rate_steps",
    "failure",
    "reverse",
];

/// Real-time media.
const MEDIA: SectionRow = (
    "flows.NAME.media",
    "Real-time media: frames at a rate that follows receivers' reports.",
    MediaParameters::FIELDS,
    &["adaptation"],
);

fn sections() -> [SectionRow; 22] {
    let [paced, frames, efcn, policing, peak, bucket] = PACED_SECTIONS;
    [
        ("scenario", "The top level.", ScenarioParameters::FIELDS, &[]),
        ("links.NAME", "A link between two nodes.", LinkParameters::FIELDS, &LINK_KEYS),
        (
            "links.NAME.reverse",
            "The way back of a duplex link, where it differs.",
            ReverseParameters::FIELDS,
            &LINK_KEYS[..7],
        ),
        RATE_STEPS,
        FAILURE,
        (
            "rings.NAME",
            "A packet ring: nodes joined by two ringlets on which data run opposite ways.",
            RingParameters::FIELDS,
            &["fairness", "station"],
        ),
        (
            "rings.NAME.station.NODE",
            "A station of a ring, where it differs from the others.",
            StationParameters::FIELDS,
            &[],
        ),
        (
            "flows.NAME",
            "A group of flows.",
            FlowParameters::FIELDS,
            &["tcp", "udp", "media", "calls", "paced", "traffic", "linked", "policing"],
        ),
        ("flows.NAME.tcp", "TCP as transport.", TcpParameters::FIELDS, &["control"]),
        ("flows.NAME.udp", "UDP as transport.", UdpParameters::FIELDS, &[]),
        MEDIA,
        (
            "flows.NAME.calls",
            "Calls: flows that arrive, are admitted or blocked, send, and end or are terminated. \
             Their packets are PCN traffic.",
            CallParameters::FIELDS,
            &["surges"],
        ),
        (
            "flows.NAME.calls.surges[]",
            "Calls that come with a reroute: a list of such tables.",
            SurgeParameters::FIELDS,
            &[],
        ),
        paced,
        frames,
        efcn,
        policing,
        peak,
        bucket,
        (
            "aggregates.NAME",
            "An ingress-egress aggregate: the flow control of calls between two edge nodes.",
            AggregateParameters::FIELDS,
            &["admission", "termination", "probing"],
        ),
        (
            "aggregates.NAME.probing",
            "New calls send test packets, and are refused if one comes back marked.",
            ProbingParameters::FIELDS,
            &[],
        ),
        ("record", "What is recorded besides the counters.", RecordParameters::FIELDS, &[]),
    ]
}

fn category(shelf: &dyn Shelf) -> Json {
    let entry = |entry: About| {
        json!({
            "name": entry.name,
            "summary": entry.summary,
            "source": entry.source,
            "example": entry.example.lines().map(str::trim).collect::<Vec<_>>().join("\n").trim(),
            "fields": show_fields(entry.fields),
            "probes": entry.probes.iter().map(show_probe).collect::<Vec<_>>(),
        })
    };
    let entries: Vec<Json> = shelf.entries().into_iter().map(entry).collect();
    json!({
        "name": shelf.name(),
        "contract": shelf.contract(),
        "place": shelf.place(),
        "entries": entries,
    })
}

fn show_probe(probe: &Probe) -> Json {
    json!({ "name": probe.name, "unit": probe.unit, "meaning": probe.meaning })
}

fn show_fields(fields: &[Field]) -> Vec<Json> {
    fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "meaning": meaning(field),
                "kind": field.kind,
                "list": field.list,
                "mechanism": field.mechanism,
                "choices": field.choices.iter().map(|(word, _)| word).collect::<Vec<_>>(),
                "choice_meanings": field
                    .choices
                    .iter()
                    .map(|(_, meaning)| words(meaning))
                    .collect::<Vec<_>>(),
                "default": field.default.map(|default| plain(&default.value())),
                "optional": field.optional || field.default.is_some(),
                "source": field.source,
            })
        })
        .collect()
}

fn meaning(field: &Field) -> String {
    words(field.meaning)
}

pub(crate) fn plain(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!(text),
        Value::Integer(n) => json!(n),
        Value::Float(x) => json!(x),
        Value::Bool(b) => json!(b),
        Value::List(items) => items.iter().map(|item| plain(&item.value)).collect(),
        Value::Table(table) => {
            table.iter().map(|(key, node)| (key.clone(), plain(&node.value))).collect()
        }
    }
}

/// The JSON schema (2020-12) of scenario files that choose from `registry`.
#[must_use]
pub fn schema(registry: &Registry) -> String {
    let [top, link, reverse, step, failure, ring, station, flow, tcp, udp, media, rest @ ..] =
        sections().map(|row| row.2);
    let [calls, surge, paced, frames, efcn, policing, rest @ ..] = rest;
    let [peak, bucket, aggregate, probing, record] = rest;
    let choice = |category: &str| choice(registry, category);
    let conditioner = choice("conditioner");
    let conditioners = json!({ "type": "array", "items": conditioner });
    let impairments = json!({ "type": "array", "items": choice("impairment") });
    let on_links = [
        ("queue", choice("queue")),
        ("conditioner", conditioner),
        ("conditioners", conditioners),
        ("shaper", choice("shaper")),
        ("detector", choice("detector")),
        ("explicit_rate", choice("explicit_rate")),
        ("impairment", choice("impairment")),
        ("impairments", impairments),
        ("rate_steps", json!({ "type": "array", "items": object(step, []) })),
    ];
    let reverse = object(reverse, on_links.clone());
    let ours = [("reverse", reverse), ("failure", object(failure, []))];
    let on_link: Vec<_> = on_links.into_iter().chain(ours).collect();
    let tcp = object(tcp, [("control", choice("control"))]);
    let surges = json!({ "type": "array", "items": object(surge, []) });
    let laws = ["activity", "pace"].map(|law| (law, choice(law)));
    let inner = [("frames", object(frames, [])), ("efcn", object(efcn, []))];
    let paced = object(paced, laws.into_iter().chain(inner));
    let policing = object(policing, [("peak", object(peak, [])), ("bucket", object(bucket, []))]);
    let on_flow = [
        ("tcp", tcp),
        ("udp", object(udp, [])),
        ("media", object(media, [("adaptation", choice("adaptation"))])),
        ("calls", object(calls, [("surges", surges)])),
        ("paced", paced),
        ("policing", policing),
        ("traffic", choice("traffic")),
        ("linked", json!({ "type": "array", "items": choice("traffic") })),
    ];
    let on_aggregate = [
        ("admission", choice("admission")),
        ("termination", choice("termination")),
        ("probing", object(probing, [])),
    ];
    let named = |inner: Json| json!({ "type": "object", "additionalProperties": inner });
    let stations = named(object(station, []));
    let on_ring = [("fairness", choice("fairness")), ("station", stations)];
    let mut schema = object(
        top,
        [
            ("links", named(object(link, on_link))),
            ("rings", named(object(ring, on_ring))),
            ("aggregates", named(object(aggregate, on_aggregate))),
            ("flows", named(object(flow, on_flow))),
            ("record", object(record, [])),
            ("include", included()),
            ("sites", repeated()),
        ],
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Forebay scenario");
    // Mechanisms that contain others refer to what these can be.
    let fields = registry.shelves().flat_map(Shelf::entries).flat_map(|entry| entry.fields);
    for category in fields.filter_map(|field| field.mechanism) {
        schema["$defs"][category] = choice(category);
    }
    schema.to_string()
}

/// Names of other files of the scenario.
fn included() -> Json {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "description": "Files beside this one whose keys are added to those here.",
    })
}

/// Sites, and what each gets: values there can be `{site}`, which no other place allows.
fn repeated() -> Json {
    let parts = json!({ "type": "object", "additionalProperties": { "type": "object" } });
    let each = json!({
        "type": "array",
        "items": { "type": ["string", "object"] },
        "description": "The sites: their names, or tables of what stands for each {key}.",
    });
    let mut group = object(&[], [("each", each)]);
    for part in ["links", "rings", "aggregates", "flows"] {
        group["properties"][part] = parts.clone();
    }
    group["required"] = json!(["each"]);
    json!({ "anyOf": [group, { "type": "array", "items": group }] })
}

/// `{ NAME = { parameters } }` or just the name, for one of the mechanisms of a category.
fn choice(registry: &Registry, category: &str) -> Json {
    let shelf = registry.shelves().find(|shelf| shelf.name() == category);
    let entries = shelf.map_or(Vec::new(), Shelf::entries);
    let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    let tables = entries.iter().map(|entry| {
        let mut inner = object(entry.fields, []);
        inner["description"] = json!(entry.summary);
        json!({
            "type": "object",
            "properties": { entry.name: inner },
            "required": [entry.name],
            "additionalProperties": false,
        })
    });
    let options: Vec<Json> = std::iter::once(json!({ "enum": names })).chain(tables).collect();
    json!({ "oneOf": options })
}

fn object(fields: &[Field], others: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        properties.insert(field.name.to_owned(), property(field));
        if field.default.is_none() && !field.optional {
            required.push(field.name);
        }
    }
    for (name, inner) in others {
        properties.insert(name.to_owned(), inner);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(field: &Field) -> Json {
    let mut value = Map::new();
    if !field.choices.is_empty() {
        let words: Vec<&str> = field.choices.iter().map(|(word, _)| *word).collect();
        value.insert("enum".to_owned(), json!(words));
    }
    if let Some(category) = field.mechanism {
        value.insert("$ref".to_owned(), json!(format!("#/$defs/{category}")));
    }
    let mut property = value;
    if field.list {
        let items = std::mem::take(&mut property);
        property.insert("type".to_owned(), json!("array"));
        property.insert("items".to_owned(), Json::Object(items));
    }
    let description = format!("{} ({})", meaning(field), field.kind);
    property.insert("description".to_owned(), json!(description));
    if let Some(default) = field.default {
        property.insert("default".to_owned(), plain(&default.value()));
    }
    Json::Object(property)
}
