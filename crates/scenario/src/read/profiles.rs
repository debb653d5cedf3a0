//! Named profiles of links: what links of a kind have, from a table of data with its sources.

use forebay_parameters::{Node, Problem, Table, Value, did_you_mean, key};

use crate::read::parse::parse;

/// The profiles, by name.
pub(crate) const PROFILES: &str = include_str!("profiles.toml");

/// Give links of the scenario `root` that name a profile what it has and they do not say.
pub(crate) fn expand(root: &mut Node) -> Result<(), Problem> {
    let Some(Value::Table(links)) = root.child_mut("links").map(|node| &mut node.value) else {
        return Ok(());
    };
    for (name, link) in links {
        let Value::Table(link) = &mut link.value else { continue };
        // What is no text is refused where links are read.
        if !link.get("profile").is_some_and(|node| matches!(node.value, Value::Text(_))) {
            continue;
        }
        let Some(Node { value: Value::Text(profile), line }) = link.remove("profile") else {
            continue;
        };
        let path = format!("links.{}.profile", key(name));
        let found = find(&profile).map_err(|message| Problem { path, line, message })?;
        fill(link, &found, line);
    }
    Ok(())
}

/// The profile called `name`.
fn find(name: &str) -> Result<Table, String> {
    let profiles = parse(PROFILES).expect("the table is read by a test");
    let Value::Table(mut profiles) = profiles.value else { unreachable!("a file is a table") };
    match profiles.remove(name).map(|node| node.value) {
        Some(Value::Table(profile)) => Ok(profile),
        _ => {
            let names: Vec<&str> = profiles.keys().map(String::as_str).collect();
            let near = did_you_mean(name, names.iter().copied());
            Err(format!("unknown \"{name}\"{near}; one of: {}", names.join(", ")))
        }
    }
}

/// Put into `table` what `profile` has and it does not, as if it stood on `line`; tables in both
/// are filled in the same way.
fn fill(table: &mut Table, profile: &Table, line: Option<u32>) {
    for (key, given) in profile {
        match (table.get_mut(key).map(|node| &mut node.value), &given.value) {
            (None, value) => {
                let mut value = value.clone();
                if let Value::Table(inner) = &mut value {
                    inner.values_mut().for_each(|node| node.line = line);
                }
                table.insert(key.clone(), Node { value, line });
            }
            (Some(Value::Table(own)), Value::Table(given)) => fill(own, given, line),
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    /// The scenario of a link with these keys.
    fn scenario(keys: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = \"1 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\n{keys}\n\
             [flows.t]\nfrom = \"a\"\nto = \"b\"\ntcp = {{}}\n"
        );
        Scenario::parse(&text, "test.toml", &[]).map_err(|error| error.to_string())
    }

    /// Each profile can be used, and each number in the table has a comment with its source.
    #[test]
    fn each_profile_can_be_used_and_each_number_has_a_source() {
        let Value::Table(profiles) = parse(PROFILES).unwrap().value else { unreachable!() };
        assert!(profiles.len() >= 5);
        for name in profiles.keys() {
            let rate =
                if find(name).unwrap().contains_key("rate") { "" } else { "rate = \"1 Gbit/s\"" };
            scenario(&format!("profile = \"{name}\"\n{rate}")).unwrap();
        }
        let mut sourced = false;
        for line in PROFILES.lines() {
            match line.chars().next() {
                Some('#') => sourced = true,
                Some('[') | None => sourced = false,
                Some(_) => assert!(sourced, "{line}"),
            }
        }
    }

    /// A profile fills in what a link does not say, and the values that the link says itself stand.
    #[test]
    fn a_profile_fills_in_what_a_link_does_not_say() {
        let hash = |keys: &str| scenario(keys).unwrap().hash().to_owned();
        let lte = "rate = \"100 Mbit/s\"\ndelay = \"5 ms\"\nreverse = { rate = \"50 Mbit/s\" }";
        assert_eq!(hash("profile = \"lte\""), hash(lte));
        let other = lte
            .replace("100 M", "30 M")
            .replace("\"50 Mbit/s\"", "\"50 Mbit/s\", delay = \"9 ms\"");
        let given = "profile = \"lte\"\nrate = \"30 Mbit/s\"\nreverse = { delay = \"9 ms\" }";
        assert_eq!(hash(given), hash(&other));
    }

    /// Wrong profiles are refused: a slip in a name, a value that is no name, and a link that lacks
    /// what its profile does not give.
    #[test]
    fn wrong_profiles_are_refused() {
        let shown = |keys: &str| scenario(keys).err().unwrap();
        let unknown = shown("profile = \"lt\"");
        assert!(unknown.contains("line 5: links.l.profile"), "{unknown}");
        assert!(unknown.contains("did you mean \"lte\"?"), "{unknown}");
        assert!(shown("profile = \"geo\"").contains("links.l.rate"));
        assert!(shown("profile = 5").contains("links.l.profile: 5 is not a text"));
        // What a profile brings is wrong where it was asked for.
        let one_way = shown("duplex = false\nprofile = \"lte\"");
        assert!(one_way.contains("line 6") && one_way.contains("links.l.reverse"), "{one_way}");
    }
}
