"""Optimizers that the source of a program builds later."""

from __future__ import annotations

from pathlib import Path

import pytest

from debugtracer.callsites.optimizers_to_come import optimizers_to_come
from debugtracer.trace.birth import Frame

KINDS = {"Adam", "SGD"}
ONE = "opt = Adam(net.parameters())\n"
STAGES = "first = Adam(net.encoder.parameters())\nrun(first)\nsecond = Adam(net.head.parameters())\n"
CHOICE = "if plain:\n    opt = SGD(params)\nelse:\n    opt = Adam(\n        params)\n"
FILLED = "opt = Adam(net.head.parameters())\nopt.add_param_group({'params': net.body.parameters()})\n"
LOOP = "for stage in range(3):\n    opt = Adam(net.part(stage))\n    run(opt)\n"
MAKER = "def make(params):\n    return Adam(params)\n\n\nopt = make(a)\n"


def to_come(tmp_path: Path, source: str, *lines: int) -> bool:
    file = tmp_path / "train.py"
    file.write_text(source)
    return optimizers_to_come(KINDS, [Frame(str(file), line) for line in lines], [str(file)] * 2)


@pytest.mark.parametrize(
    ("source", "lines"), [(ONE, [1]), (STAGES, [1, 3]), (CHOICE, [2]), (CHOICE, [5]), (MAKER, [2])]
)
def test_all_that_a_program_builds_is_there(tmp_path: Path, source: str, lines: list[int]) -> None:
    assert not to_come(tmp_path, source, *lines)


@pytest.mark.parametrize(
    ("source", "lines"), [(STAGES, [1]), (FILLED, [1]), (LOOP, [2]), (f"{MAKER}opt = make(b)\n", [2])], ids=str
)
def test_another_one_comes_later(tmp_path: Path, source: str, lines: list[int]) -> None:
    assert to_come(tmp_path, source, *lines)


def test_a_maker_that_was_called_in_all_its_places(tmp_path: Path) -> None:
    assert not to_come(tmp_path, f"{MAKER}opt = make(b)\n", 2, 2)


def test_a_maker_that_is_called_in_a_loop(tmp_path: Path) -> None:
    source = "def make(params):\n    return Adam(params)\n\n\nfor part in parts:\n    make(part)\n"
    assert to_come(tmp_path, source, 2)
