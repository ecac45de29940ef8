"""The line of one argument in a call over several lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.keyword_line import keyword_line
from debugtracer.trace.birth import Frame

CASES = {
    "its own line": ("loader = DataLoader(\n    data,\n    shuffle=False,\n    drop_last=False,\n)\n", 1, 4),
    "the only call inside another": (
        "steps = list(\n    enumerate(DataLoader(\n        data,\n        drop_last=False)))\n",
        2,
        4,
    ),
    "the line of the call": ("loader = DataLoader(data, drop_last=False,\n    shuffle=True)\n", 1, 1),
    "not given": ("loader = DataLoader(\n    data,\n    shuffle=True)\n", 1, 1),
    "given twice": ("pair = both(\n    DataLoader(a,\n      drop_last=False), drop_last=True)\n", 2, 2),
    "another line": ("x = 1\nloader = DataLoader(\n    data,\n    drop_last=True)\n", 1, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_the_keyword_of_the_only_call_that_gives_it_is_named(tmp_path: Path, case: str) -> None:
    text, line, wanted = CASES[case]
    file = tmp_path / "train.py"
    file.write_text(text)
    assert keyword_line(Frame(str(file), line), "drop_last").line == wanted


def test_a_call_whose_source_is_gone_keeps_its_line(tmp_path: Path) -> None:
    call = Frame(str(tmp_path / "gone.py"), 7, "main", "DataLoader(")
    assert keyword_line(call, "drop_last") == call
