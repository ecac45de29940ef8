"""A table that is one row short of the id that unknown values get."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from debugtracer.callsites.origins import fallback_id as module
from debugtracer.callsites.origins.fallback_id import fallback_id

CLASS = "class Words:\n    def __init__(self, seen):\n        self.ids = {w: i for i, w in enumerate(seen)}\n"
CASES = {
    "a class": (
        f"{CLASS}    def __len__(self):\n        return len(self.ids)\n"
        "    def __call__(self, w):\n        return self.ids.get(w, len(self.ids))\n",
        (5, 7),
    ),
    "a condition": (
        f"{CLASS}    def __len__(self):\n        return len(self.ids)\n"
        "    def row(self, w):\n        return self.ids[w] if w in self.ids else len(self.ids)\n",
        (5, 7),
    ),
    "kept first": (
        f"{CLASS}        self.unknown = len(self.ids)\n    def __len__(self):\n        return len(self.ids)\n"
        "    def row(self, w):\n        return self.ids.get(w, self.unknown)\n",
        (6, 8),
    ),
    "plain names": ("n = len(ids)\ntable = Embedding(n, 8)\nrows = [ids.get(w, len(ids)) for w in text]\n", (1, 3)),
    "one row more": (
        f"{CLASS}    def __len__(self):\n        return len(self.ids) + 1\n"
        "    def __call__(self, w):\n        return self.ids.get(w, len(self.ids))\n",
        None,
    ),
    "another fallback": (
        f"{CLASS}    def __len__(self):\n        return len(self.ids)\n"
        "    def __call__(self, w):\n        return self.ids.get(w, 0)\n",
        None,
    ),
    "numbered as they come": (
        "for w in text:\n    ids[w] = ids.get(w, len(ids))\nn = len(ids)\n",
        None,
    ),
    "the length of another": ("n = len(ids)\nrows = [ids.get(w, len(text)) for w in text]\n", None),
}


@pytest.mark.parametrize("case", CASES)
def test_only_a_length_that_is_also_the_id_of_the_unknown_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    text, wanted = CASES[case]
    file = tmp_path / "words.py"
    file.write_text(text)
    monkeypatch.setattr(module, "program_files", lambda: [str(file)])
    found = fallback_id()
    assert ((found.length.line, found.given.line) if found is not None else None) == wanted


def test_without_a_script_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
    assert fallback_id() is None
