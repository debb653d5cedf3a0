"""The executable style check: `make tidy`.

One module for each kind of rule; each has `check`, which takes the project's files and yields what
is wrong with them. A rule says why it exists, an exception why it is one, and an exception that
nothing needs any more is itself a finding.

    source      what is read: the files
    rust        their syntax trees and tokens
    python      what they name
    size        files, functions, lines, lists of parameters
    bans        what must not be called, by folder
    imports     what must not be imported when a module is
    words       what must not be written in any file
    arrows      which crate may depend on which
    packages    which package of python/forebay may import which
    documented  parameters and mechanisms of the catalogue, tests
    definitions where the catalogue is defined
    generated   type stub, results in the READMEs of studies; no page that `make site` makes

Formatting, types and docstrings are other tools' work: rustfmt, rustc (`missing_docs`), clippy,
ruff, mypy.
"""
