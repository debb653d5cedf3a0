"""The style check: every rule refuses what it is there to refuse, and nothing beside it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.scenario.catalogue import Catalogue, Category, Field, Page, catalogue
from tidy import arrows, bans, documented, generated, imports, modules, packages, size, words
from tidy.definitions import Definitions
from tidy.source import Finding, Source, read_tree

LAW = "crates/mechanisms/src/queue/fifo.rs"
TEST = "crates/mechanisms/tests/fifo.rs"
MODULE = "python/forebay/counting.py"

RUST = {
    "hash maps": (
        "use std::collections::{BTreeMap, HashMap};",
        'use std::collections::BTreeMap; // not a HashMap\nconst A: &str = "HashMap";',
    ),
    "wall clock": (
        "fn f() { let begun = std::time::Instant::now(); }",
        "fn f(now: Time) { let instant = now; }",
    ),
    "platform math": (
        "fn f(x: f64) { assert!((1.0 + x).ln() < 1.0); }",
        "fn f(x: f64) -> f64 { math::ln(x) + x.sqrt() + x.abs() }",
    ),
    "foreign randomness": (
        "fn f() -> f64 { rand::random() }",
        "fn f(stream: &mut Stream) -> f64 { stream.uniform() }",
    ),
    "printing": (
        'fn f() { println!("here"); }',
        'fn f() -> String { format!("println!") }',
    ),
    "the machine": (
        "use std::{cmp, fs as files};",
        "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n",
    ),
    "threads": (
        "fn f() { std::thread::spawn(run); }",
        "fn f(thread: usize) -> usize { std::cmp::max(thread, 1) }",
    ),
    "unfinished work": (
        "fn f() -> u8 { todo!() }",
        "fn f(todo: u8) -> bool { todo != 0 }",
    ),
    "unsafe code": (
        "fn f(x: &[u8]) -> u8 { unsafe { *x.get_unchecked(0) } }",
        "/// Nothing unsafe.\nfn f(x: &[u8]) -> Option<&u8> { x.get(0) }",
    ),
}
"""For each ban a line that it refuses, and one like it that is fine."""

PYTHON = {
    "printing": (
        "def f(x):\n    print(x)\n",
        "def f(screen, x):\n    screen.print(x)\n",
    ),
    "wall clock": (
        "from time import monotonic as clock\n\nBEGUN = clock()\n",
        "import time\n\ntime.sleep(1)\n",
    ),
    "foreign randomness": (
        "import numpy as np\n\nnp.random.seed(1)\n",
        "import numpy as np\n\nSTREAM = np.random.default_rng(1)\n",
    ),
}


def refused(path: str, text: str) -> list[str]:
    """What is found in a file that should not be called."""
    return [finding.what for finding in bans.check_source(Source(path, text))]


def test_every_ban_is_tried() -> None:
    """A ban could be written so that it never finds anything."""
    assert [ban.name for ban in bans.RUST] == list(RUST)
    assert [ban.name for ban in bans.PYTHON] == list(PYTHON)


@pytest.mark.parametrize("name", RUST)
def test_the_engine_cannot_use_what_is_banned(name: str) -> None:
    """Results could depend on a platform, a clock, a thread or an order by chance."""
    bad, good = RUST[name]
    assert all(f"({name})" in what for what in refused(LAW, bad))
    assert refused(LAW, bad)
    assert refused(LAW, good) == []


@pytest.mark.parametrize("name", PYTHON)
def test_the_package_cannot_use_what_is_banned(name: str) -> None:
    """Grades could depend on the clock, and functions talk where they should answer."""
    bad, good = PYTHON[name]
    assert all(f"({name})" in what for what in refused(MODULE, bad))
    assert refused(MODULE, bad)
    assert refused(MODULE, good) == []


@pytest.mark.parametrize("what", [what for ban in bans.RUST for what in ban.what])
def test_every_word_of_a_ban_is_found(what: str) -> None:
    """One of many functions of the platform's library could slip in."""
    call = f"x{what})" if what.startswith(".") else f"{what}()"
    assert refused(LAW, f"fn f() {{ assert_eq!({call}, 1); }}")


def test_bans_hold_where_they_should() -> None:
    """A test could not read its data, or the engine would read files."""
    reading = "use std::fs;\nuse std::thread;\n"
    assert len(refused(LAW, reading)) == 2
    assert refused(TEST, reading) == []
    assert refused("crates/python/src/batch.rs", reading) == []
    assert refused(TEST, "fn f() -> f64 { 2.0_f64.ln() }")
    assert refused("bench/peers/run.py", "import time\n\ntime.perf_counter()\n") == []


def test_a_tests_module_does_not_excuse_its_file() -> None:
    """What stands beside the tests of a law would go unseen."""
    text = "#[cfg(test)]\nmod tests {\n    use std::fs;\n}\nuse std::net::IpAddr;\n"
    (found,) = bans.check_source(Source(LAW, text))
    assert (found.line, "std::net" in found.what) == (5, True)


def test_a_needless_exception_is_found() -> None:
    """Exceptions would outlive what they were made for."""
    path = "crates/scenario/examples/run.rs"
    needed = [finding.what for finding in bans.check([Source(path, 'fn f() { println!("a"); }')])]
    needless = [finding.what for finding in bans.check([Source(path, "fn f() {}")])]
    assert not any(path in what for what in needed)
    assert any(path in what for what in needless)


def test_half_a_syntax_tree_is_refused() -> None:
    """Nothing would be found in a file that the check cannot read."""
    with pytest.raises(SyntaxError, match=r"lib\.rs:2"):
        _ = Source("crates/units/src/lib.rs", "fn f() {}\nfn g( {\n").rust


def sizes(path: str, text: str) -> list[str]:
    """What is too large."""
    return [finding.what for finding in size.check_source(Source(path, text))]


def test_large_files_are_refused() -> None:
    """Files would grow past what one head holds."""
    assert sizes(LAW, "\n" * 600) == []
    assert sizes(LAW, "\n" * 601) == ["601 lines, at most 600"]
    assert sizes("studies/af/result.json", "\n" * 601) == []


@pytest.mark.parametrize(
    ("path", "opening", "line", "closing"),
    [(LAW, "fn f() {", "    let _ = 1;", "}"), (MODULE, "def f():", "    x = 1", "    return x")],
)
def test_long_functions_are_refused(path: str, opening: str, line: str, closing: str) -> None:
    """Functions would grow past one screen."""
    assert sizes(path, "\n".join([opening, *[line] * 68, closing])) == []
    assert sizes(path, "\n".join([opening, *[line] * 69, closing])) == [
        "`f` has 71 lines, at most 70"
    ]


def test_long_lines_are_refused() -> None:
    """A reader would scroll sideways; a row of a table alone cannot be broken."""
    wide = "x" * 101
    assert sizes(LAW, f"// {'x' * 97}") == []
    assert sizes(LAW, f"// {wide}") == ["104 columns, at most 100"]
    assert sizes("docs/README.md", f"| {wide} |\n") == []
    assert sizes("docs/README.md", f"<!-- claims: {wide} -->\n") == []
    assert sizes("docs/README.md", f"```text\n{wide}\n```\n") == []
    assert sizes("docs/README.md", f"```text\n```\n{wide}\n") == ["101 columns, at most 100"]
    assert sizes("docs/README.md", f"```python\n{wide}\n```\n") == ["101 columns, at most 100"]


def test_long_lists_of_parameters_are_refused() -> None:
    """Calls would be rows of values in an order that is not remembered."""
    seven = ", ".join(f"p{n}: u8" for n in range(7))
    assert sizes(LAW, f"impl A {{ fn f(&self, {seven}) {{}} }}") == []
    assert sizes(LAW, f"trait A {{ fn f(&self, {seven}, p: u8); }}") == [
        "`f` takes 8 parameters, at most 7"
    ]
    names = ", ".join(f"p{n}" for n in range(7))
    assert sizes(MODULE, f"def f(self, {names}, *, named): ...") == []
    assert sizes(MODULE, f"def f({names}, p): ...") == ["`f` takes 8 parameters, at most 7"]


def test_heavy_imports_stay_inside() -> None:
    """`forebay --help` would wait for libraries that it does not need."""
    inside = "def f():\n    import scipy.stats\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pyarrow as pa\n"
    at_once = "import json\ntry:\n    import scipy.stats\nexcept ImportError:\n    pass\n"
    assert list(imports.check_source(Source(MODULE, inside + typed))) == []
    (found,) = imports.check_source(Source(MODULE, at_once))
    assert (found.line, found.what) == (3, "`import scipy.stats` at the top")


WORDS = {
    "path of one machine": ("see /ho" + "me/me/results", "see `target/home/me` or {root}/tmp/a"),
    "marker of a merge": ("<" * 7 + " HEAD", "<" * 8 + " HEAD"),
    "note to oneself": ("// TO" + "DO: later", "// ToDo lists are a topic of their own"),
    "tab or space at the end": ("a = 1 ", "a = 1"),
    "idiom": ("sent by " + "turns", "sent alternately"),
}

IDIOMS = (
    ("to" + "ld of a loss", "notified of a loss, and told that it was one"),
    ("the highest m" + "et so far", "the target is met; met = [1]; any_of(met); met.append(1)"),
    ("the packet in ha" + "nd", "the packet in handling, handed over"),
    ("No" + "body knows", "no body, or a nobodyish name"),
    ("for who" + "ever asks", "for whoeverness"),
    ("a toss" + "-up", "a toss of a coin"),
    ("tokens in arr" + "ears", "tokens owed"),
    ("it go" + "es on", "it continues, and goes on the wire; Session::GoesOn"),
    ("taken by tu" + "rns", "a probe by turnstile"),
    ("without a lo" + "ok at the next", "without a lookup"),
    ("    /// Other" + "wise it would rain.", "/// The mark. Otherwise it is dropped."),
)


@pytest.mark.parametrize("name", WORDS)
def test_words_that_belong_nowhere_are_found(name: str) -> None:
    """A file would name one machine's paths, or say that it is not finished."""
    assert list(WORDS) == [word.name for word in words.WORDS]
    bad, good = (list(words.check_source(Source("a.md", text))) for text in WORDS[name])
    assert [finding.what.partition("` (")[2] for finding in bad] == [f"{name})"]
    assert good == []


@pytest.mark.parametrize(("bad", "good"), IDIOMS)
def test_idioms_are_found(bad: str, good: str) -> None:
    """Prose would have to be guessed at by those who did not write it."""
    assert len(IDIOMS) == len(words.IDIOMS)
    assert [f.what.partition("` (")[2] for f in words.check_source(Source("a.rs", bad))] == [
        "idiom)"
    ]
    assert list(words.check_source(Source("a.rs", good))) == []


def test_published_sentences_may_be_quoted() -> None:
    """A paper's sentence would have to be changed for its style."""
    quoted = "A requirement of a class is only m" + "et with control."
    assert list(words.check_source(Source("studies/atm/paper.toml", quoted))) == []
    assert len(list(words.check_source(Source("studies/atm/network.py", quoted)))) == 1


def cargo(crate: str, *names: str) -> Source:
    """The `Cargo.toml` of a crate that depends on others."""
    lines = ["[package]", f'name = "forebay-{crate}"', "[dependencies]"]
    lines += [f"{name}.workspace = true" for name in names]
    lines += ["[dev-dependencies]", "proptest.workspace = true"]
    return Source(f"crates/{crate}/Cargo.toml", "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("crate", "fine", "wrong"),
    [
        ("kernel", "forebay-units", "forebay-network"),
        ("network", "forebay-kernel", "forebay-mechanisms"),
        ("scenario", "toml", "pyo3"),
        ("mechanisms", "forebay-parameters", "toml"),
        ("kernel", "libm", "rand"),
    ],
)
def test_arrows_point_one_way(crate: str, fine: str, wrong: str) -> None:
    """The kernel could come to know packets, and a law the format of files."""
    assert list(arrows.check_source(cargo(crate, fine))) == []
    (found,) = arrows.check_source(cargo(crate, fine, wrong))
    assert (found.line, found.what) == (5, f"`{crate}` depends on `{wrong}`")


def test_a_new_crate_needs_a_place() -> None:
    """The house would get a room that was not planned."""
    assert [f.what for f in arrows.check_source(cargo("cellar"))] == [
        "crate `cellar` is not in the house"
    ]


def imported(path: str, text: str) -> list[tuple[int, str]]:
    """What a module must not import: lines and what is said."""
    found = packages.check_source(Source(f"python/forebay/{path}.py", text), {"forebay.run.jobs"})
    return [(finding.line, finding.what) for finding in found]


@pytest.mark.parametrize(
    ("path", "fine", "wrong"),
    [
        ("run/store", "forebay.run.jobs", "forebay.study.claims"),
        ("scenario/network", "forebay.run.results", "forebay.cli.terminal"),
        ("study/claims", "forebay.stats", "forebay.report.page"),
        ("study/driver", "forebay.run.jobs", "forebay.cli.terminal"),
        ("report/page", "forebay.study.claims", "forebay.cli.terminal"),
        ("stats", "forebay.errors", "forebay.run.jobs"),
        ("__init__", "forebay.cli.commands", ""),
    ],
)
def test_packages_import_one_way(path: str, fine: str, wrong: str) -> None:
    """Runs could come to know papers, and the reading of claims the terminal."""
    assert imported(path, f"from {fine} import a\nimport {fine}\n") == []
    if not wrong:
        return
    module = f"forebay.{path.replace('/', '.')}"
    refused = f"`{module}` imports `{wrong}`"
    assert imported(path, f"import json\nfrom {wrong} import a\n") == [(2, refused)]
    typed = f"if TYPE_CHECKING:\n    from {wrong} import A\n"
    assert imported(path, typed) == [(2, refused)]
    above, _, name = wrong.rpartition(".")
    if name == "jobs":
        assert imported(path, f"from {above} import {name}\n") == [(1, refused)]


def test_imports_stand_at_the_top() -> None:
    """What a module needs would show only when one of its functions is called."""
    text = "def f():\n    from forebay.run.jobs import check\n"
    refused = [(2, "`forebay.run.jobs` is imported in a function")]
    assert imported("study/plan", text) == refused
    assert imported("cli/commands", text) == []
    assert imported("study/plan", "def f():\n    import scipy.stats\n") == []


def test_a_new_package_needs_a_place() -> None:
    """A package could be added of which nothing says what it may know."""
    assert imported("cellar/wine", "") == [(1, "package `cellar` is not in the house")]


def test_modules_do_not_import_in_circles() -> None:
    """Neither of two modules could be understood or imported without the other."""

    def found(**texts: str) -> list[str]:
        sources = [Source(f"python/forebay/run/{name}.py", text) for name, text in texts.items()]
        return [finding.what for finding in packages.check_circles(sources)]

    to_a, to_b = "import forebay.run.a\n", "from forebay.run import b\n"
    assert found(a=to_b, b="import json\n", c=to_a) == []
    assert found(a=to_b, b=to_a, c=to_a) == ["circle of forebay.run.a, forebay.run.b"]
    assert found(a=f"def f():\n    {to_b}", b="import forebay.run.c\n", c=to_a) == [
        "circle of forebay.run.a, forebay.run.b, forebay.run.c"
    ]
    assert found(a=f"if TYPE_CHECKING:\n    {to_b}", b=to_a) == []


def test_rust_files_do_not_use_each_other_in_circles() -> None:
    """A part of a crate could not be understood or changed without all others of its circle."""

    def found(**texts: str) -> list[str]:
        sources = [Source(f"crates/x/src/{name}.rs", text) for name, text in texts.items()]
        return [finding.what for finding in modules.check_circles(sources)]

    circle = ["circle of crates/x/src/a.rs, crates/x/src/b.rs"]
    to_a, to_b = "use crate::a::A;\npub struct B;\n", "use super::b::B;\npub struct A;\n"
    assert found(a=to_b, b="pub struct B;\n", c=to_a) == []
    assert found(a=to_b, b=to_a, c=to_a) == circle
    assert found(a="pub fn f() -> u8 { crate::b::f() }\n", b=to_a) == circle
    assert found(a=to_b, b="#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n") == []
    handed = {"lib": "mod a;\nmod b;\npub use a::A;\n", "a": to_b}
    assert found(**handed, b="use crate::A;\n") == circle
    assert found(**handed, b="use crate::C;\n") == []


def test_the_tables_of_packages_hold_nothing_unused() -> None:
    """An arrow that nothing needs any more would let the next mistake pass."""
    found = {finding.what for finding in packages.check([])}
    assert "`cli` may import `report`" in found
    assert "functions of python/forebay/cli/commands.py may import" in found


FIELD = Field(
    name="weight",
    meaning="Weight of the newest sample, 0 to 1.",
    kind="number",
    list=False,
    mechanism=None,
    choices=(),
    choice_meanings=(),
    default=0.002,
    optional=True,
    source="RFC 2309, section 3",
)
PAGE = Page("red", "queue", "Random early detection.", "RFC 2309", (FIELD,))
RED = Source(
    "crates/mechanisms/src/queue/red.rs",
    """
const ENTRY: Entry<BuildQueue> = Entry {
    name: "red",
};

parameters! {
    /// Parameters of RED.
    pub struct RedParameters {
        /// Weight of the newest sample,
        /// 0 to 1.
        weight: f64 = 0.002, "RFC 2309, section 3";
        ..others: Options;
    }
}
""",
)


def unexplained(page: Page) -> list[str]:
    """What a catalogue with that page alone leaves open."""
    known = Catalogue((Category(page.kind, "Who gets in.", "links.NAME", (page,)),), ())
    found = documented.check_catalogue(known, Definitions([RED]))
    return [f"{finding.path}:{finding.line}: {finding.what}" for finding in found]


def test_parameters_have_meaning_unit_and_source() -> None:
    """A reader could not tell what a number is, or where it comes from."""
    assert unexplained(PAGE) == []
    for wrong in (
        replace(FIELD, source="-"),
        replace(FIELD, source="well known"),
        replace(FIELD, meaning=""),
        replace(FIELD, meaning="How strong it is."),
        replace(FIELD, choices=("a",), choice_meanings=(" ",)),
    ):
        found = unexplained(replace(PAGE, fields=(wrong,)))
        assert found, wrong
        begin = "crates/mechanisms/src/queue/red.rs:11: queue.red.weight: "
        assert all(line.startswith(begin) for line in found), found


def test_the_offered_load_is_the_users_own() -> None:
    """The rate of a source would have to be backed by a paper."""
    own = replace(FIELD, source="-")
    assert unexplained(replace(PAGE, kind="traffic", fields=(own,))) == []


def test_mechanisms_have_summary_and_source() -> None:
    """A mechanism could be somebody's idea under a known name."""
    place = "crates/mechanisms/src/queue/red.rs:3: queue.red"
    assert unexplained(replace(PAGE, source="folklore")) == [f"{place}: source is `folklore`"]
    assert unexplained(replace(PAGE, summary="")) == [f"{place}: summary is ``"]


def test_every_part_of_the_catalogue_is_found_in_its_file() -> None:
    """A finding would name no file, or line 0, and its reader have to search for the law."""
    tree = read_tree()
    places = Definitions(tree)
    for page in catalogue().pages():
        found = [places.of_page(page), *(places.of_field(page, field) for field in page.fields)]
        assert all(line > 0 for _, line in found), (page.kind, page.name, found)
    law = next(page for page in catalogue().pages() if (page.kind, page.name) == ("queue", "sfq"))
    for field in law.fields:
        path, line = places.of_field(law, field)
        assert path.startswith("crates/mechanisms/src/queue/")
        text = next(source for source in tree if source.path == path).lines[line - 1]
        assert text.lstrip().startswith(f"{field.name}: "), (field.name, text)


def test_tests_say_why_they_are_there() -> None:
    """The author of a change that breaks a test would not learn what is wrong with the world."""
    bare = "#[test]\nfn a() {}\n"
    marked = "/// Queues would lose packets.\n#[test]\n#[should_panic]\nfn a() {}\n"
    hollow = "/// Tests the queue.\n#[test]\nfn a() {}\n"
    inside = f"proptest! {{\n    {bare}\n    {marked}\n}}\n"
    found = {text: list(documented.check_rust(Source(TEST, text))) for text in (bare, hollow)}
    assert [finding.line for finding in found[bare]] == [1]
    assert [finding.what for finding in found[hollow]] == ["`Tests the queue.`"]
    assert list(documented.check_rust(Source(TEST, marked))) == []
    assert [finding.line for finding in documented.check_rust(Source(TEST, inside))] == [2]

    python = 'def test_a():\n    pass\n\ndef test_b():\n    """It would rain."""\n'
    assert [f.line for f in documented.check_python(Source("tests/a.py", python))] == [1]


def test_a_stale_stub_is_found() -> None:
    """A type checker would know the parameters of another version."""
    wanted = "a: int\nb: int\n"
    stub = generated.STUB
    assert list(generated.check_stub({stub: wanted}, wanted)) == []
    (stale,) = generated.check_stub({stub: "a: int\nb: str\n"}, wanted)
    (missing,) = generated.check_stub({}, wanted)
    assert [(f.path, f.line) for f in (stale, missing)] == [(stub, 2), (stub, 1)]


def test_pages_of_the_program_are_not_committed() -> None:
    """The reference would describe the parameters of another version."""
    page = Source("docs/reference/queue.md", "# Queue\n")
    found = [finding.path for finding in generated.check([page]) if finding.path == page.path]
    assert found == [page.path]


def test_a_readme_shows_the_recorded_results() -> None:
    """The table that a visitor reads would be that of an older run."""
    there = {source.path: source.text for source in read_tree()}
    assert list(generated.check_results("af", there)) == []
    made = (f"studies/af/{name}.md" for name in ("results", "README"))
    path = next(path for path in made if path in there)
    there[path] = there[path].replace("| exact |", "| close |", 1)
    assert [finding.path for finding in generated.check_results("af", there)] == [path]
    # A claim that was renamed since would end the check with a traceback.
    path = "studies/af/result.json"
    there[path] = there[path].replace('"id": "t3.1/udp0/two/tcp"', '"id": "t3.1/old"', 1)
    (finding,) = generated.check_results("af", there)
    assert (finding.path, "'t3.1/old'" in finding.what) == (path, True)


def test_files_are_those_that_git_would_keep(tmp_path: Path) -> None:
    """Build outputs would be judged, or new files not be."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("/out/\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/made.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "new.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "link.py").symlink_to("new.py")
    assert [source.path for source in read_tree(tmp_path)] == [".gitignore", "new.py"]


def test_a_finding_says_where_what_and_why() -> None:
    """Editors could not jump to it, and its reader would not know what to do."""
    assert str(Finding("a.rs", 3, "what", "why")) == "a.rs:3: what: why"
