"""Small programs leave what they left: tape, ring, counters, series, findings, incidents with their trials.

    python -m tests.test_stored_programs --write [NAME ...]   keeps what they leave today

No words and no times are kept. What a torch of another version calls its operators is its own; so the answers hold for
the version that they were written with."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.same_words import assert_same
from tests.stored_programs.every import EVERY
from tests.stored_programs.left import left

HERE = Path(__file__).with_name("stored_programs")
VERSION = ".".join(torch.__version__.split(".")[:2])


def kept(name: str) -> dict[str, Any]:
    """What is stored of a program."""
    found: dict[str, Any] = json.loads((HERE / f"{name}.json").read_text())
    return found


@pytest.mark.parametrize("name", EVERY)
def test_a_program_leaves_what_it_left(name: str, tmp_path: Path) -> None:
    want = kept(name)
    if want.pop("torch") != VERSION:
        pytest.skip(f"written with another version of torch than {VERSION}")
    got = json.loads(json.dumps(answer(name, tmp_path)))
    assert_same(want, got, f"{name}; meant? python -m tests.test_stored_programs --write {name}")


def answer(name: str, out: Path) -> dict[str, Any]:
    """What a program leaves today."""
    program, settings = EVERY[name]
    return left(program, out, **settings)


def write(names: list[str]) -> None:
    """Keep what they leave today, a line for each part."""
    for name in names or EVERY:
        with tempfile.TemporaryDirectory() as folder:
            parts = {"torch": VERSION} | answer(name, Path(folder))
        lines = ",\n".join(f'"{part}": {json.dumps(value)}' for part, value in parts.items())
        (HERE / f"{name}.json").write_text(f"{{\n{lines}\n}}\n")
        print(f"wrote {name}")


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    write(sys.argv[2:])
