//! The numeric vectors of the repository, `vectors/`, on the laws of the tables.

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "vectors need no examples and no strange values")]
mod support;
mod vector;

use std::fs;
use std::path::{Path, PathBuf};

use vector::Vector;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// Every vector by its name below the folder, such as `codel/first-drop`.
fn vectors() -> Vec<Vector> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()).expect("the folder of vectors is in the repository") {
        let folder = entry.expect("the folder can be read").path();
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for file in files.map(|file| file.expect("the folder can be read").path()) {
            if file.extension().is_some_and(|extension| extension == "toml") {
                found.push(read(&folder, &file));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn read(folder: &Path, file: &Path) -> Vector {
    let part =
        |path: Option<&std::ffi::OsStr>| path.and_then(|part| part.to_str()).map(str::to_owned);
    let name = part(folder.file_name()).zip(part(file.file_stem()));
    let (mechanism, case) = name.expect("names of vectors are plain text");
    let text = fs::read_to_string(file).expect("the file can be read");
    Vector::read(&format!("{mechanism}/{case}"), &text).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// A mechanism would not be the one that its standard defines: each vector's departures, drops,
/// marks and states come out as its file has them.
#[test]
fn mechanisms_do_what_their_vectors_say() {
    let vectors = vectors();
    let mut wrong = Vec::new();
    for vector in &vectors {
        if let Err(difference) = vector.run() {
            wrong.push(format!("vectors/{}.toml: {difference}", vector.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

/// An implementer could not tell what a number rests on, or would look for a case under another
/// mechanism: each vector lies in the folder of its mechanism and says what it is for and where its
/// expected numbers come from.
#[test]
fn vectors_say_what_they_rest_on() {
    for Vector { name, mechanism, title, source, .. } in vectors() {
        assert_eq!(name.split('/').next(), Some(mechanism.as_str()), "{name}");
        assert!(title.len() > 20 && !title.ends_with('.'), "{name}: a title is a clause");
        assert!(source.len() > 40, "{name}: a source is a section and a derivation");
    }
}

/// A vector that is wrong would pass: a number that is not the mechanism's, a key that is not read,
/// and a state between two events are each refused.
#[test]
fn wrong_vectors_are_refused() {
    let text = r#"
        title = "Two packets in a row"
        mechanism = "droptail"
        source = "Two packets of 1000 B at 8 Mbit/s take 1 ms each."
        link_bps = 8000000
        arrivals = [{ at_ns = 0, count = 2, size_bytes = 1000 }]
        parameters = {}
        expected = { departures = [[0, 0], [1, 1000000]] }
    "#;
    let run = |text: &str| Vector::read("droptail/case", text).and_then(|vector| vector.run());
    assert_eq!(run(text), Ok(()));
    for (from, to, message) in [
        ("[1, 1000000]", "[1, 1000001]", "departures"),
        (", [1, 1000000]]", "]", "departures"),
        ("departures = [[0, 0], [1, 1000000]]", "drops = [[1, 0, \"overflow\"]]", "drops"),
        ("departures = [[0, 0], [1, 1000000]]", "marks = [[1, 0]]", "marks"),
        ("count = 2", "cuont = 2", "cuont"),
        ("\"droptail\"", "\"droptial\"", "droptial"),
        ("parameters = {}", "parameters = { limit = \"many\" }", "limit"),
        ("]] }", "]], state = [{ at_ns = 5, x = 0.5 }] }", "nothing happens at 5 ns"),
        ("]] }", "]], state = [{ at_ns = 0, x = 0.5 }] }", "x is not stated"),
    ] {
        assert!(text.contains(from), "{from}");
        let wrong = run(&text.replace(from, to)).expect_err(to);
        assert!(wrong.contains(message), "{to}: {wrong}");
    }
}
