"""Files for those who join: the citation, issue forms and workflows are valid, and agree."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
FORMS = sorted(set(GITHUB.glob("ISSUE_TEMPLATE/*.yml")) - {GITHUB / "ISSUE_TEMPLATE/config.yml"})
SCHEMAS = {
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
    "vendor.github-issue-config": [GITHUB / "ISSUE_TEMPLATE/config.yml"],
    "vendor.github-issue-forms": FORMS,
    "vendor.github-workflows": sorted(GITHUB.glob("workflows/*.yml")),
}
"""Files by their schema, which check-jsonschema carries along."""


def valid(schema: str, *files: Path) -> bool:
    """True if files have a schema; no network is asked."""
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert "No module named" not in done.stderr, "check-jsonschema, of the extra dev, is missing"
    return done.returncode == 0


@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_have_the_schemas_of_those_who_read_them(schema: str) -> None:
    """A forge refuses what it cannot read, silently in the case of forms and citations."""
    assert SCHEMAS[schema]
    assert valid(schema, *SCHEMAS[schema])


def test_a_wrong_workflow_is_refused(tmp_path: Path) -> None:
    """A job without a machine is no workflow: the schema is not one that accepts anything."""
    path = tmp_path / "wrong.yml"
    path.write_text("on: push\njobs:\n  a:\n    steps: []\n", encoding="utf-8")
    assert not valid("vendor.github-workflows", path)


def test_the_citation_is_of_this_version() -> None:
    """Who cites a result names the version that made it."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    (version,) = re.findall(r"^version: (.+)$", text, re.MULTILINE)
    assert version == workspace["package"]["version"]
    licences = re.findall(r"^  - (MIT|Apache-2\.0)$", text, re.MULTILINE)
    assert " OR ".join(licences) == workspace["package"]["license"]


@pytest.mark.parametrize("path", SCHEMAS["vendor.github-workflows"], ids=lambda path: path.name)
def test_workflows_have_no_more_rights_than_they_need(path: Path) -> None:
    """A workflow reads by default, keeps no credentials, and names a version of each action."""
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read\n(?! )", text, re.MULTILINE)
    used = re.findall(r"uses: (\S+)", text)
    assert all(re.search(r"@v\d|^\./", each) for each in used)
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")
    assert len(re.findall(r"runs-on:", text)) == len(re.findall(r"timeout-minutes:", text))


def test_workflows_run_targets_that_are_there() -> None:
    """Workflows call targets of the Makefile: one that was renamed fails here, not in a release."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path in SCHEMAS["vendor.github-workflows"]:
        for words in re.findall(r"run: make (.+)", path.read_text(encoding="utf-8")):
            assert set(words.split()) <= targets, path.name
