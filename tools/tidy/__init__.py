"""The project's own style check, a part of `make lint`.

One module for each kind of rule; each has `check`, which takes the project's files and yields what
is wrong with them. A rule says why it exists.

    source      what is read: the files
    rust        syntax trees and tokens of those in Rust
    size        files and lines
    words       what must not be written in any file
    modules     files of a crate that use each other in a circle
    documented  parameters and mechanisms of the catalogue, tests
    definitions where the catalogue is defined
    generated   type stub, results in the READMEs of studies; no page that `make site` makes

The rest is the work of common tools. Calls and types that are banned, and the sizes of functions:
clippy (clippy.toml) and ruff (pyproject.toml). Which crate may depend on which: cargo-deny
(deny.toml). Which package may import which: import-linter (pyproject.toml). Formatting, types and
docstrings: rustfmt, rustc (`missing_docs`), ruff, mypy.
"""
