"""A random split that each part of the data draws by itself."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest

from debugtracer.callsites.origins.drawn_anew import drawn_anew
from debugtracer.trace.birth import Frame

TEXT = """\
import random
import numpy as np
import torch
from torch.utils.data import Subset
def train_test_split(rows, test_size, random_state=None):
    return rows, rows
class Anew:
    def __init__(self, train=True):
        self.read(train)
    def read(self, train):
        rng = np.random.RandomState(0)
        rows = rng.permutation(9)
        one, two = train_test_split(rows, test_size=0.2)
        self.rows = one if train else two
class Cut:
    def __init__(self, train=True):
        order = np.random.permutation(9)
        self.rows = order[:7] if train else order[7:]
class Seeded:
    def __init__(self, train=True):
        one, two = train_test_split(range(9), test_size=0.2, random_state=3)
        self.rows = one if train else two
class Reseeded:
    def __init__(self, train=True):
        random.seed(0)
        order = list(range(9))
        random.shuffle(order)
        self.rows = order[:7] if train else order[7:]
class Ordered:
    def __init__(self, train=True):
        self.rows = list(range(9))
        random.shuffle(self.rows)
class Held:
    def __init__(self, train=True):
        order = np.random.default_rng(4).permutation(9)
        self.rows = order[:7] if train else order[7:]
"""
FUNCTION = """\
import torch
def birds(part):
    order = torch.randperm(9){seed}
    return order[:7] if part == "train" else order[7:]
def other():
    order = torch.randperm(9)
    return order[:7], order[7:]
one = birds("train")
two = birds("{second}")
three, four = other()
"""


def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> ModuleType:
    file = tmp_path / "parts.py"
    file.write_text(text)
    spec = util.spec_from_file_location("parts", file)
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "parts", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("kind", "line"),
    [("Anew", 13), ("Cut", 17), ("Seeded", None), ("Reseeded", None), ("Ordered", None), ("Held", None)],
)
def test_the_split_of_a_class_that_both_parts_are_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, line: int | None
) -> None:
    made = getattr(load(tmp_path, monkeypatch, TEXT), kind)
    found = drawn_anew(made(True), made(False), None)
    assert (found.line if found is not None else None) == line


def test_one_data_set_and_two_of_other_classes_have_no_such_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(tmp_path, monkeypatch, TEXT)
    one = module.Anew()
    assert drawn_anew(one, one, None) is None
    assert drawn_anew(one, module.Cut(), None) is None


@pytest.mark.parametrize(
    ("second", "seed", "line"),
    [("valid", "", 3), ("train", "", None), ("valid", " if torch.manual_seed(0) else None", None)],
)
def test_a_function_that_is_called_once_for_each_part(tmp_path: Path, second: str, seed: str, line: int | None) -> None:
    file = tmp_path / "birds.py"
    file.write_text(FUNCTION.format(second=second, seed=seed))
    found = drawn_anew(object(), object(), Frame(str(file), 8))
    assert (found.line if found is not None else None) == line
