//! Names the build of the engine: a hash of the sources that it is made of.
//!
//! Covered are version, `Cargo.toml` and `src` of this crate and of every crate of the workspace
//! that it depends on, and the locked versions of all others. Only names within `crates`, and lines
//! without their endings, reach the hash: so it is the same for the same sources on every machine
//! and in every folder, with any profile and flags of the compiler, none of which changes a result.

#![expect(clippy::disallowed_methods, reason = "a program that talks to cargo")]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

const SELF: &str = "python";

fn main() {
    let own = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = own.parent().expect("the crate lies in the folder of all crates");
    let mut hasher = blake3::Hasher::new();
    hasher.update(env::var("CARGO_PKG_VERSION").expect("cargo sets it").as_bytes());
    for name in closure(crates) {
        let folder = crates.join(&name);
        let mut files = vec![folder.join("Cargo.toml")];
        if folder.join("build.rs").is_file() {
            files.push(folder.join("build.rs"));
        }
        add_files(&folder.join("src"), &mut files);
        files.sort();
        for file in files {
            let place = file.strip_prefix(crates).expect("it was found there");
            add(&mut hasher, &slashed(place), &read(&file));
        }
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    let lock = crates.join("../Cargo.lock");
    if lock.is_file() {
        add(&mut hasher, "Cargo.lock", &foreign_packages(&read(&lock)));
        println!("cargo::rerun-if-changed={}", lock.display());
    }
    let digest = hasher.finalize().to_hex();
    println!("cargo::rustc-env=FOREBAY_BUILD={}", &digest[..16]);
}

/// The names of this crate and of those of the workspace that it depends on.
fn closure(crates: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut left = vec![SELF.to_owned()];
    while let Some(name) = left.pop() {
        let manifest = read(&crates.join(&name).join("Cargo.toml"));
        if found.insert(name) {
            left.extend(dependencies(&manifest));
        }
    }
    found
}

/// The crates of the workspace under `[dependencies]`; those of tests and examples do not count.
fn dependencies(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.strip_prefix("forebay-"))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || "-_".contains(*c)).collect())
        .collect()
}

/// The packages of a `Cargo.lock` that come from elsewhere: name, version and checksum.
fn foreign_packages(lock: &str) -> String {
    let mut found: Vec<String> = lock
        .split("[[package]]")
        .filter(|package| package.contains("\nsource = "))
        .map(|package| {
            let keys = ["name = ", "version = ", "checksum = "];
            let lines = package.lines().filter(|line| keys.iter().any(|key| line.starts_with(key)));
            lines.collect::<Vec<_>>().join("\n")
        })
        .collect();
    found.sort();
    found.join("\n")
}

/// Every Rust source below a folder.
fn add_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a crate has sources") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            add_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// A file's name and text, so that no two sequences of files give the same bytes.
fn add(hasher: &mut blake3::Hasher, place: &str, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    hasher.update(format!("\n{place} {}\n{}\n", lines.len(), lines.join("\n")).as_bytes());
}

fn slashed(place: &Path) -> String {
    let parts: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
