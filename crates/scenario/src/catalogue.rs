//! The catalogue of mechanisms and the schema of scenario files, from the mechanisms' own
//! definitions.

use forebay_elements::calls::ProbingParameters;
use forebay_elements::fabric::{BuildShape, Shapes};
use forebay_elements::link::{LinkKind, LinkKinds};
use forebay_elements::policer::{BucketParameters, PeakParameters};
use forebay_elements::{
    InnerForm, InnerSection, SubnetworkKind, Subnetworks, TransportKind, Transports,
    subnetwork_keys,
};
use forebay_parameters::{
    About, Category, Entry, Field, Parameters, Probe, Registry, Shelf, Value,
};
use serde_json::{Map, Value as Json, json};

use crate::plan::fabrics::{
    FABRIC_HOST_MECHANISMS, FABRICS, FAILURES, FabricFailureParameters, FabricHostParameters,
    FabricParameters, HOSTS, MEMORY, fabric_keys,
};
use crate::plan::failures::FailureParameters;
use crate::plan::sections::{
    AggregateParameters, FLOW_MECHANISMS, FlowParameters, HostParameters, LinkParameters,
    POLICING_SECTIONS, PolicingParameters, RecordParameters, ReverseParameters, SWITCH_MECHANISMS,
    ScenarioParameters, SwitchParameters,
};
use crate::results::columns::words;

/// Every mechanism of `registry` and every section of a scenario file, as JSON.
#[must_use]
pub fn catalogue(registry: &Registry) -> String {
    let transports = registry.entries::<Transports>();
    json!({
        "categories": laws(registry).map(category).collect::<Vec<_>>(),
        "transports": transports.iter().map(|entry| entry.name).collect::<Vec<_>>(),
        "sections": sections(registry).into_iter().map(|row| json!({
            "name": row.name,
            "summary": row.summary,
            "fields": show_fields(&row.fields),
            "mechanisms": row.also,
        })).collect::<Vec<_>>(),
    })
    .to_string()
}

/// The categories of what is chosen by name under a key of the category: not transports, kinds of
/// links, subnetworks and shapes of fabrics, each of which is a key of its own.
fn laws(registry: &Registry) -> impl Iterator<Item = &dyn Shelf> {
    let keys = [Transports::NAME, LinkKinds::NAME, Subnetworks::NAME, Shapes::NAME];
    registry.shelves().filter(move |shelf| !keys.contains(&shelf.name()))
}

/// Sections by name, each of which is `inner`.
fn named(inner: Json) -> Json {
    json!({ "type": "object", "additionalProperties": inner })
}

/// A section of scenario files.
struct SectionRow {
    name: String,
    summary: &'static str,
    fields: Vec<Field>,
    /// Keys that choose mechanisms, or are sections.
    also: Vec<&'static str>,
}

impl SectionRow {
    fn new(
        name: impl Into<String>,
        summary: &'static str,
        fields: &[Field],
        also: &[&'static str],
    ) -> Self {
        Self { name: name.into(), summary, fields: fields.to_vec(), also: also.to_vec() }
    }
}

/// The section at `path` of an element whose entry is `entry`, with other `keys` than its
/// parameters, and the `inner` sections.
fn own_section<B>(
    path: String,
    entry: &Entry<B>,
    keys: &[&'static str],
    inner: &[InnerSection],
) -> Vec<SectionRow> {
    let mut rows = within(&path, inner);
    rows.insert(0, SectionRow::new(path, entry.summary, entry.fields, keys));
    rows
}

/// The sections of a transport.
fn sections_of(entry: &Entry<TransportKind>) -> Vec<SectionRow> {
    let path = format!("flows.NAME.{}", entry.name);
    own_section(path, entry, &entry.build.keys(), entry.build.sections)
}

/// The sections of a kind of link.
fn sections_of_link(entry: &Entry<LinkKind>) -> Vec<SectionRow> {
    if entry.build.in_place {
        return within("links.NAME", entry.build.sections);
    }
    let path = format!("links.NAME.{}", entry.name);
    own_section(path, entry, &entry.build.keys(), entry.build.sections)
}

/// The sections of a kind of subnetworks.
fn sections_of_subnetwork(entry: &Entry<SubnetworkKind>) -> Vec<SectionRow> {
    let path = format!("{}.NAME", entry.name);
    own_section(path, entry, &entry.build.keys(), entry.build.sections)
}

/// The sections of fabrics: that of a fabric, its shapes, and what else stands within.
fn sections_of_fabric(registry: &Registry) -> Vec<SectionRow> {
    let shapes = registry.entries::<Shapes>();
    let path = |inner: &str| format!("{FABRICS}.NAME.{inner}");
    let shape = |entry: &Entry<BuildShape>| {
        SectionRow::new(path(entry.name), entry.summary, entry.fields, &[])
    };
    let name = format!("{FABRICS}.NAME");
    let mut rows =
        vec![SectionRow::new(name, FABRIC, FabricParameters::FIELDS, &fabric_keys(shapes))];
    rows.extend(shapes.iter().map(shape));
    let (hosts, memory) = (FabricHostParameters::FIELDS, SwitchParameters::FIELDS);
    let failures = format!("{}[]", path(FAILURES));
    rows.extend([
        SectionRow::new(path(HOSTS), FABRIC_HOSTS, hosts, FABRIC_HOST_MECHANISMS),
        SectionRow::new(path(MEMORY), FABRIC_MEMORY, memory, SWITCH_MECHANISMS),
        SectionRow::new(failures, FABRIC_FAILURES, FabricFailureParameters::FIELDS, &[]),
    ]);
    rows
}

/// The `inner` sections of that at `path`.
fn within(path: &str, inner: &[InnerSection]) -> Vec<SectionRow> {
    let row =
        |inner: &InnerSection| SectionRow::new(inner.path(path), inner.summary, inner.fields, &[]);
    inner.iter().map(row).collect()
}

/// The parameters in the section of a link: its `own`, and those of its kind.
fn on_links(own: &[Field], registry: &Registry) -> Vec<Field> {
    let in_place = registry.entries::<LinkKinds>().iter().filter(|entry| entry.build.in_place);
    own.iter().chain(in_place.flat_map(|entry| entry.fields)).copied().collect()
}

/// The sections that kinds of links have in that of a link, by key.
fn kinds_on_links(registry: &Registry) -> Vec<(&'static str, Json)> {
    let keys = |entry: &Entry<LinkKind>| {
        let LinkKind { in_place, laws, sections, .. } = entry.build;
        let own = sections_within(registry, laws, sections);
        if in_place { own } else { vec![(entry.name, object(entry.fields, own))] }
    };
    registry.entries::<LinkKinds>().iter().flat_map(keys).collect()
}

/// The sections of policing.
fn policing() -> [SectionRow; 3] {
    [
        SectionRow::new(
            "flows.NAME.policing",
            "Policing of each flow of a group by itself: a peak rate controller, a leaky bucket, \
             or both in this order.",
            PolicingParameters::FIELDS,
            POLICING_SECTIONS,
        ),
        SectionRow::new(
            "flows.NAME.policing.peak",
            "A peak rate controller: it spaces packets.",
            PeakParameters::FIELDS,
            &[],
        ),
        SectionRow::new(
            "flows.NAME.policing.bucket",
            "A leaky bucket: a packet needs a token, which come periodically.",
            BucketParameters::FIELDS,
            &[],
        ),
    ]
}

/// Failures of a link.
const FAILURE: &str =
    "A link, both directions of it, fails and comes back, and flows take other paths meanwhile.";

/// Memory of a switch.
const SWITCH: &str = "A switch, which is a node: the links that leave it share one memory.";

/// A fabric, and what stands within.
const FABRIC: &str = "A fabric: the switches of a data centre, their hosts, and the links between \
                      them. Its shape is a key of its own.";
const FABRIC_HOSTS: &str = "The hosts of a fabric: the links from them to their switches.";
const FABRIC_MEMORY: &str = "The memory of each switch of a fabric, which its ports share.";
const FABRIC_FAILURES: &str =
    "A link of a fabric that fails and comes back, both directions of it.";

/// Mechanisms of a link.
const LINK_KEYS: [&str; 6] =
    ["queue", "conditioner", "shaper", "detector", "explicit_rate", "impairment"];

fn sections(registry: &Registry) -> Vec<SectionRow> {
    let transports = registry.entries::<Transports>();
    let keys: Vec<&str> =
        transports.iter().map(|entry| entry.name).chain(FLOW_MECHANISMS.iter().copied()).collect();
    let kinds = kinds_on_links(registry).into_iter().map(|(key, _)| key);
    let on_link: Vec<&str> = LINK_KEYS.into_iter().chain(kinds).collect();
    let row = |name: &str, summary, fields: &[Field], also: &[&'static str]| {
        SectionRow::new(name, summary, fields, also)
    };
    let mut rows = vec![
        row("scenario", "The top level.", ScenarioParameters::FIELDS, &[]),
        row(
            "links.NAME",
            "A link between two nodes.",
            &on_links(LinkParameters::FIELDS, registry),
            &[on_link.as_slice(), &["failure", "reverse"]].concat(),
        ),
        row(
            "links.NAME.reverse",
            "The way back of a duplex link, where it differs.",
            &on_links(ReverseParameters::FIELDS, registry),
            &on_link,
        ),
    ];
    rows.extend(registry.entries::<LinkKinds>().iter().flat_map(sections_of_link));
    rows.extend([row("links.NAME.failure", FAILURE, FailureParameters::FIELDS, &[])]);
    rows.extend(registry.entries::<Subnetworks>().iter().flat_map(sections_of_subnetwork));
    rows.extend(sections_of_fabric(registry));
    rows.push(row("switches.NAME", SWITCH, SwitchParameters::FIELDS, SWITCH_MECHANISMS));
    rows.push(row("flows.NAME", "A group of flows.", FlowParameters::FIELDS, &keys));
    rows.extend(transports.iter().flat_map(sections_of));
    rows.extend(policing());
    rows.extend([
        row(
            "aggregates.NAME",
            "An ingress-egress aggregate: the flow control of calls between two edge nodes.",
            AggregateParameters::FIELDS,
            &["admission", "termination", "probing"],
        ),
        row(
            "aggregates.NAME.probing",
            "New calls send test packets, and are refused if one comes back marked.",
            ProbingParameters::FIELDS,
            &[],
        ),
        row(
            "hosts.NAME",
            "A host where flows begin or end: a node, or a machine behind one that flows name.",
            HostParameters::FIELDS,
            &[],
        ),
        row("record", "What is recorded besides the counters.", RecordParameters::FIELDS, &[]),
    ]);
    rows
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
    let choice = |category: &str| choice(registry, category);
    let conditioner = choice("conditioner");
    let conditioners = json!({ "type": "array", "items": conditioner });
    let impairments = json!({ "type": "array", "items": choice("impairment") });
    let fields_of = |own| on_links(own, registry);
    let mechanisms = [
        ("queue", choice("queue")),
        ("conditioner", conditioner),
        ("conditioners", conditioners),
        ("shaper", choice("shaper")),
        ("detector", choice("detector")),
        ("explicit_rate", choice("explicit_rate")),
        ("impairment", choice("impairment")),
        ("impairments", impairments),
    ];
    let on_links: Vec<_> = mechanisms.into_iter().chain(kinds_on_links(registry)).collect();
    let reverse = object(&fields_of(ReverseParameters::FIELDS), on_links.clone());
    let ours = [("reverse", reverse), ("failure", object(FailureParameters::FIELDS, []))];
    let on_link = on_links.into_iter().chain(ours);
    let mut on_flow: Vec<_> = registry
        .entries::<Transports>()
        .iter()
        .map(|entry| (entry.name, transport(registry, entry)))
        .collect();
    let inner = [
        ("peak", object(PeakParameters::FIELDS, [])),
        ("bucket", object(BucketParameters::FIELDS, [])),
    ];
    on_flow.extend([
        ("policing", object(PolicingParameters::FIELDS, inner)),
        ("traffic", choice("traffic")),
        ("linked", json!({ "type": "array", "items": choice("traffic") })),
        ("pairs", choice("pairs")),
    ]);
    let on_aggregate = [
        ("admission", choice("admission")),
        ("termination", choice("termination")),
        ("probing", object(ProbingParameters::FIELDS, [])),
    ];
    let subnetwork = |entry: &Entry<SubnetworkKind>| {
        let SubnetworkKind { laws, sections, .. } = entry.build;
        let own = sections_within(registry, laws, sections);
        (entry.name, named(object(entry.fields, own)))
    };
    let links = [("links", named(object(&fields_of(LinkParameters::FIELDS), on_link)))];
    let subnetworks = registry.entries::<Subnetworks>().iter().map(subnetwork);
    let mut schema = object(
        ScenarioParameters::FIELDS,
        links.into_iter().chain(subnetworks).chain([
            (FABRICS, named(fabric(registry))),
            ("switches", named(switch(registry))),
            ("aggregates", named(object(AggregateParameters::FIELDS, on_aggregate))),
            ("hosts", named(object(HostParameters::FIELDS, []))),
            ("flows", named(object(FlowParameters::FIELDS, on_flow))),
            ("record", object(RecordParameters::FIELDS, [])),
            ("include", included()),
            ("sites", repeated(registry)),
        ]),
    );
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Forebay scenario");
    // Mechanisms that contain others refer to what these can be.
    let fields = laws(registry).flat_map(Shelf::entries).flat_map(|entry| entry.fields);
    for category in fields.filter_map(|field| field.mechanism) {
        schema["$defs"][category] = choice(category);
    }
    schema.to_string()
}

/// The section of a switch, or that of the memory of each switch of a fabric.
fn switch(registry: &Registry) -> Json {
    object(SwitchParameters::FIELDS, [("sharing", choice(registry, "sharing"))])
}

/// The section of a fabric.
fn fabric(registry: &Registry) -> Json {
    let queue = || ("queue", choice(registry, "queue"));
    let conditioner = choice(registry, "conditioner");
    let failure = object(FabricFailureParameters::FIELDS, []);
    let inner = [
        queue(),
        ("conditioners", json!({ "type": "array", "items": conditioner.clone() })),
        ("conditioner", conditioner),
        ("path", choice(registry, "path")),
        (HOSTS, object(FabricHostParameters::FIELDS, [queue()])),
        (MEMORY, switch(registry)),
        (FAILURES, json!({ "type": "array", "items": failure })),
    ];
    let shapes = registry.entries::<Shapes>().iter();
    let shapes = shapes.map(|entry| (entry.name, object(entry.fields, [])));
    object(FabricParameters::FIELDS, shapes.chain(inner))
}

/// The section of a transport.
fn transport(registry: &Registry, entry: &Entry<TransportKind>) -> Json {
    let TransportKind { laws, sections, .. } = entry.build;
    object(entry.fields, sections_within(registry, laws, sections))
}

/// The keys of a section beside its parameters: `laws` that it chooses, and `sections` within.
fn sections_within(
    registry: &Registry,
    laws: &[&'static str],
    sections: &[InnerSection],
) -> Vec<(&'static str, Json)> {
    let laws = laws.iter().map(|law| (*law, choice(registry, law)));
    let inner = sections.iter().map(|inner| {
        let own = object(inner.fields, []);
        let all = match inner.form {
            InnerForm::One => own,
            InnerForm::List => json!({ "type": "array", "items": own }),
            InnerForm::Named(_) => named(own),
        };
        (inner.key, all)
    });
    laws.chain(inner).collect()
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
fn repeated(registry: &Registry) -> Json {
    let parts = json!({ "type": "object", "additionalProperties": { "type": "object" } });
    let each = json!({
        "type": "array",
        "items": { "type": ["string", "object"] },
        "description": "The sites: their names, or tables of what stands for each {key}.",
    });
    let mut group = object(&[], [("each", each)]);
    for part in [
        &["links"],
        subnetwork_keys(registry).as_slice(),
        &["switches", "aggregates", "hosts", "flows"],
    ]
    .concat()
    {
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
