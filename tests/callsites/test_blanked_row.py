"""The line that writes one value into a whole row."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from debugtracer.callsites.blanked_row import blanked_row

HEAD = "import torch\n\nIGNORED = -100\n\n\nclass Texts:\n    def row(self, ids):\n"


def dataset(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A dataset of a program's own file whose method has this body."""
    file = folder / "texts_of_a_test.py"
    file.write_text(HEAD + "".join(f"        {text}\n" for text in body.split("; ")))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    spec.loader.exec_module(module)
    return module.Texts()


@pytest.mark.parametrize(
    "body",
    [
        "ids[:] = -100", "ids[:] = IGNORED", "ids[...] = IGNORED", "ids.fill_(-100)", "return [-100] * len(ids)",
        "return torch.full_like(ids, IGNORED)", "ids[:3] = -100; ids[:] = -100",
    ],
)  # fmt: skip
def test_the_only_line_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    found = blanked_row(dataset(tmp_path, body, monkeypatch), -100)
    assert found is not None and found.line == 7 + len(body.split("; ")) and found.function.endswith("row")


@pytest.mark.parametrize(
    "body",
    ["ids[:3] = -100", "ids[:] = 0", "return [-100] * 3", "ids[:] = -100; ids.fill_(-100)", "ids[ids == 0] = -100"],
)
def test_none_or_several_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    assert blanked_row(dataset(tmp_path, body, monkeypatch), -100) is None


def test_a_library_is_not_read() -> None:
    assert blanked_row([1, 2], -100) is None
