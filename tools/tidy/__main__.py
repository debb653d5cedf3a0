"""`PYTHONPATH=tools python -m tidy`: check the repository; exit status 1 if anything is wrong."""

from __future__ import annotations

import sys

from tidy import documented, generated, modules, size, words
from tidy.source import read_tree

RULES = (size, words, modules, documented, generated)


def main() -> int:
    """Print what is wrong; the exit status."""
    sources = read_tree()
    findings = sorted(finding for rule in RULES for finding in rule.check(sources))
    for finding in findings:
        print(finding)
    lines = sum(len(source.lines) for source in sources)
    if findings:
        print(f"tidy: {len(findings)} findings", file=sys.stderr)
        return 1
    print(f"tidy: {len(sources)} files, {lines} lines, nothing to say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
