"""What docs/verdict.md quotes of a verdict is what a verdict says: the texts of tests/end_to_end/texts, which are made
by real runs."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ROOT / "tests" / "end_to_end" / "texts"
QUOTED = re.compile(r"^<!-- text: (\w+) -->\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = ("verdict", "after the alarm", "step before;")
"""Words in lines whose numbers another machine changes."""


def test_every_quoted_line_is_said() -> None:
    quoted = QUOTED.findall((ROOT / "docs" / "verdict.md").read_text())
    assert len(quoted) >= 4
    for name, block in quoted:
        said = set((TEXTS / f"{name}.txt").read_text().splitlines())
        assert [
            line for line in block.splitlines() if line not in said and not any(word in line for word in VARIES)
        ] == []
