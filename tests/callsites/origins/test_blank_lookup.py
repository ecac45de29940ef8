"""The lookup that gives padding for what a table does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.origins.blank_lookup import blank_lookup
from debugtracer.callsites.origins.value_origin import origin
from debugtracer.trace.birth import Frame

CASES = {
    "a fallback": ("row = [ids.get(w, 0) for w in text]\n", "ids.get(w, 0)"),
    "a name": ("PAD = 0\nrow = [ids.get(w, PAD) for w in text]\n", "ids.get(w, PAD)"),
    "a condition": ("row = [ids[w] if w in ids else 0 for w in text]\n", "ids[w] if w in ids else 0"),
    "left out": ("row = [ids[w] for w in text if w in ids]\n", "[ids[w] for w in text if w in ids]"),
    "an id of its own": ("row = [ids.get(w, 1) for w in text]\n", None),
    "no fallback": ("row = [ids[w] for w in text]\n", None),
    "two of them": ("a = ids.get(u, 0)\nb = ids.get(v, 0)\nrow = [a + b, b]\n", None),
    "into a part": ("row = zeros(4)\nsome = [ids.get(w, 0) for w in text]\nrow[:2] = some\n", "ids.get(w, 0)"),
}


@pytest.mark.parametrize(("code", "text"), CASES.values(), ids=CASES)
def test_the_only_lookup_on_the_way(tmp_path: Path, code: str, text: str | None) -> None:
    file = tmp_path / "words.py"
    file.write_text(f"{code}use(row)\n")
    links = origin("row", (Frame(str(file), code.count("\n") + 1),))
    found = blank_lookup(links, 0.0)
    assert (found[1] if found is not None else None) == text
