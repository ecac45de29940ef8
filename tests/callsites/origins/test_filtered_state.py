"""The line that keeps the names of a state that fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.filtered_state import filtered_at
from debugtracer.trace.birth import Frame

CASES = {
    "a comprehension": ("own = m.state_dict()\nkept = {k: v for k, v in s.items() if k in own}\nm.load(kept)\n", 2),
    "a loop": ("kept = {}\nfor k, v in s.items():\n    if k in own and ok(v):\n        kept[k] = v\nm.load(kept)\n", 3),
    "none": ("kept = {k[7:]: v for k, v in s.items()}\nm.load(kept)\n", None),
    "two": (
        "a = {k: v for k, v in s.items() if k in x}\nb = {k: v for k, v in a.items() if k in y}\nm.load(b)",
        None,
    ),
    "after the load": ("m.load(s)\nleft = {k: v for k, v in s.items() if k in own}\n", None),
}


@pytest.mark.parametrize(("code", "line"), CASES.values(), ids=CASES)
def test_the_only_condition_on_names_before_the_load(tmp_path: Path, code: str, line: int | None) -> None:
    file = tmp_path / "loading.py"
    file.write_text(code)
    at = next(n for n, text in enumerate(code.splitlines(), 1) if text.startswith("m.load"))
    found = filtered_at(Frame(str(file), at, "<module>"))
    assert (found.line if found is not None else None) == line


def test_without_a_line_there_is_none() -> None:
    assert filtered_at(None) is None
