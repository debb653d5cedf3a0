"""The style check: every rule refuses what it is there to refuse, and nothing beside it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from forebay.scenario.catalogue import Catalogue, Category, Field, Page, catalogue
from tidy import documented, generated, modules, size, words
from tidy.definitions import Definitions
from tidy.source import Finding, Source, read_tree

LAW = "crates/laws/src/queue/fifo.rs"
TEST = "crates/laws/tests/fifo.rs"


def test_half_a_syntax_tree_is_refused() -> None:
    """Rust that does not parse is refused: no check passes over a file that it cannot read."""
    with pytest.raises(SyntaxError, match=r"lib\.rs:2"):
        _ = Source("crates/units/src/lib.rs", "fn f() {}\nfn g( {\n").rust


def sizes(path: str, text: str) -> list[str]:
    """Returns findings on size."""
    return [finding.what for finding in size.check_source(Source(path, text))]


def test_large_files_are_refused() -> None:
    """Large files are refused: at most 600 lines, unless generated."""
    assert sizes(LAW, "\n" * 600) == []
    assert sizes(LAW, "\n" * 601) == ["601 lines, at most 600"]
    assert sizes("README.md", "\n" * 601) == ["601 lines, at most 600"]
    assert sizes("studies/af/results.md", "\n" * 601) == []
    assert sizes("studies/af/result.json", "\n" * 601) == []


def test_long_lines_are_refused() -> None:
    """Long lines of code are refused; prose and data may be wide."""
    assert sizes(LAW, f"// {'x' * 97}") == []
    assert sizes("lab/src/page.ts", f"// {'x' * 98}") == ["101 columns, at most 100"]
    assert sizes("docs/README.md", "x" * 101) == []


WORDS = {
    "path of one machine": ("see /ho" + "me/me/results", "see `target/home/me` or {root}/tmp/a"),
    "marker of a merge": ("<" * 7 + " HEAD", "<" * 8 + " HEAD"),
    "note to oneself": ("// TO" + "DO: later", "// ToDo lists are a topic of their own"),
    "tab or space at the end": ("a = 1 ", "a = 1"),
    "idiom": ("sent by " + "turns", "sent alternately"),
    "context in a law": ("cx: &mut Context<'_>", "/// Context in which it is asked."),
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
    """Words that belong nowhere are found, such as paths of one machine and notes of unfinished
    work."""
    assert list(WORDS) == [word.name for word in words.WORDS]
    bad, good = (list(words.check_source(Source(LAW, text))) for text in WORDS[name])
    assert [finding.what.partition("` (")[2] for finding in bad] == [f"{name})"]
    assert good == []


def test_elements_have_a_context() -> None:
    """Elements have a context: what no law may name is refused in the sources of laws alone."""
    text, _ = WORDS["context in a law"]
    assert list(words.check_source(Source("crates/elements/src/udp.rs", text))) == []


@pytest.mark.parametrize(("bad", "good"), IDIOMS)
def test_idioms_are_found(bad: str, good: str) -> None:
    """Idioms are found, which those who did not write them have to guess at."""
    assert len(IDIOMS) == len(words.IDIOMS)
    assert [f.what.partition("` (")[2] for f in words.check_source(Source("a.rs", bad))] == [
        "idiom)"
    ]
    assert list(words.check_source(Source("a.rs", good))) == []


def test_published_sentences_may_be_quoted() -> None:
    """Published sentences may be quoted, whatever their style."""
    quoted = "A requirement of a class is only m" + "et with control."
    assert list(words.check_source(Source("studies/atm/paper.toml", quoted))) == []
    assert len(list(words.check_source(Source("studies/atm/network.py", quoted)))) == 1


def test_rust_files_do_not_use_each_other_in_circles() -> None:
    """Rust files that use each other in circles are found: no part of a crate needs all others to
    be understood."""

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
    "crates/laws/src/queue/red.rs",
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
    """Returns findings on a catalogue with that page alone."""
    known = Catalogue((Category(page.kind, "Who gets in.", "links.NAME", (page,)),), ())
    found = documented.check_catalogue(known, Definitions([RED]))
    return [f"{finding.path}:{finding.line}: {finding.what}" for finding in found]


def test_parameters_have_meaning_unit_and_source() -> None:
    """Parameters have a meaning, a unit and a source."""
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
        begin = "crates/laws/src/queue/red.rs:11: queue.red.weight: "
        assert all(line.startswith(begin) for line in found), found


def test_the_offered_load_is_the_users_own() -> None:
    """Rates of sources need no paper: the offered load is the user's own."""
    own = replace(FIELD, source="-")
    assert unexplained(replace(PAGE, kind="traffic", fields=(own,))) == []


def test_mechanisms_have_summary_and_source() -> None:
    """Mechanisms have a summary and a source."""
    place = "crates/laws/src/queue/red.rs:3: queue.red"
    assert unexplained(replace(PAGE, source="folklore")) == [f"{place}: source is `folklore`"]
    assert unexplained(replace(PAGE, summary="")) == [f"{place}: summary is ``"]


def test_every_part_of_the_catalogue_is_found_in_its_file() -> None:
    """Every part of the catalogue is found in its file, at its line."""
    tree = read_tree()
    places = Definitions(tree)
    for page in catalogue().pages():
        found = [places.of_page(page), *(places.of_field(page, field) for field in page.fields)]
        assert all(line > 0 for _, line in found), (page.kind, page.name, found)
    law = next(page for page in catalogue().pages() if (page.kind, page.name) == ("queue", "sfq"))
    for field in law.fields:
        path, line = places.of_field(law, field)
        assert path.startswith("crates/laws/src/queue/")
        text = next(source for source in tree if source.path == path).lines[line - 1]
        assert text.lstrip().startswith(f"{field.name}: "), (field.name, text)


def test_tests_say_why_they_are_there() -> None:
    """A test without a description, or with one that names no property, is found."""
    bare = "#[test]\nfn a() {}\n"
    marked = "/// Queues lose no packets.\n#[test]\n#[should_panic]\nfn a() {}\n"
    hollow = "/// Tests the queue.\n#[test]\nfn a() {}\n"
    inside = f"proptest! {{\n    {bare}\n    {marked}\n}}\n"
    found = {text: list(documented.check_rust(Source(TEST, text))) for text in (bare, hollow)}
    assert [finding.line for finding in found[bare]] == [1]
    assert [finding.what for finding in found[hollow]] == ["`Tests the queue.`"]
    assert list(documented.check_rust(Source(TEST, marked))) == []
    assert [finding.line for finding in documented.check_rust(Source(TEST, inside))] == [2]

    python = 'def test_a():\n    pass\n\ndef test_b():\n    """It rains."""\n'
    assert [f.line for f in documented.check_python(Source("tests/a.py", python))] == [1]


def test_a_stale_stub_is_found() -> None:
    """A stale stub is found: type checkers know the parameters of this version."""
    wanted = "a: int\nb: int\n"
    stub = generated.STUB
    assert list(generated.check_stub({stub: wanted}, wanted)) == []
    (stale,) = generated.check_stub({stub: "a: int\nb: str\n"}, wanted)
    (missing,) = generated.check_stub({}, wanted)
    assert [(f.path, f.line) for f in (stale, missing)] == [(stub, 2), (stub, 1)]


def test_pages_of_the_program_are_not_committed() -> None:
    """Pages that the program generates are found if committed, as they age."""
    page = Source("docs/reference/queue.md", "# Queue\n")
    found = [finding.path for finding in generated.check([page]) if finding.path == page.path]
    assert found == [page.path]


def test_a_readme_shows_the_recorded_results() -> None:
    """A README that does not show the recorded results is found."""
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
    """Files that are checked are those that git keeps or does not ignore: new ones, and no build
    outputs."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("/out/\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/made.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "new.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "link.py").symlink_to("new.py")
    assert [source.path for source in read_tree(tmp_path)] == [".gitignore", "new.py"]


def test_a_finding_says_where_what_and_why() -> None:
    """A finding says where, what and why, in the form to which editors jump."""
    assert str(Finding("a.rs", 3, "what", "why")) == "a.rs:3: what: why"
