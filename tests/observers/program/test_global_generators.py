"""Generators that a dataset's functions name as globals."""

from __future__ import annotations

import random

import numpy as np
from torch.utils.data import default_collate

from debugtracer.observers.program.generator_state import HeldGenerator
from debugtracer.observers.program.global_generators import generators_called, written_at

of_method = np.random.default_rng(0)
of_function = random.Random(1)
of_collate = np.random.RandomState(2)
never_read = random.Random(3)


def helper(x):
    return [x + of_function.random() for _ in range(2)]


class Data:
    def __getitem__(self, index):
        return helper(of_method.random() + index)


class Calls:
    def __init__(self):
        self.transforms = [helper, {"deeper": Data()}]
        self.owner = self  # a cycle


def collate(rows):
    return [(lambda row: row + of_collate.rand())(row) for row in rows]


def names(*readers):
    return {held.path for held in generators_called(*readers)}


def test_those_of_methods_functions_they_call_and_functions_inside():
    assert names(Data()) == {"of_method", "of_function"}
    assert names(collate) == {"of_collate"}
    assert names(Calls()) == {"of_function", "of_method"}


def test_nothing_of_a_library_or_of_values():
    assert names(default_collate, None, [1.0, "text"], np.zeros(3)) == set()


def test_it_names_the_line_at_the_top_of_the_module():
    (held,) = generators_called(collate)
    made = written_at(held)
    assert made is not None
    assert (made.function, made.code) == ("<module>", "of_collate = np.random.RandomState(2)")
    assert written_at(HeldGenerator("given_in", held.generator, held.holder, "")) is None
