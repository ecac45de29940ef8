"""Generators inside objects, and what can be told from two of their states."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

from debugtracer.observers.program.generator_state import drew, global_states, held_by, shared_paths, state_of


class Flip:
    def __init__(self, rng):
        self.rng = rng


class Data:
    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.parts = [Flip(np.random.RandomState(2)), {"dice": random.Random(3)}]
        self.images = np.zeros((100, 100))
        self.owner = self  # a cycle

    @property
    def expensive(self):
        raise AssertionError("user code was run")


MAKERS = {
    "generator": lambda seed: np.random.default_rng(seed),
    "philox": lambda seed: np.random.Generator(np.random.Philox(seed)),
    "mt": lambda seed: np.random.Generator(np.random.MT19937(seed)),
    "state": np.random.RandomState,
    "random": random.Random,
    "torch": lambda seed: torch.Generator().manual_seed(seed),
}
DRAW = {
    "random": lambda g, n: [g.random() for _ in range(n)],
    "state": lambda g, n: g.standard_normal(n),
    "torch": lambda g, n: torch.randn(n, generator=g),
}


def draw(kind, generator, count):
    DRAW.get(kind, lambda g, n: g.standard_normal(n))(generator, count)


def test_generators_are_found_without_running_code():
    paths = [held.path for held in held_by(Data())]
    assert paths == ["dataset.rng", "dataset.parts[0].rng", "dataset.parts[1]['dice']"]


def test_one_generator_by_two_ways_is_shared():
    data = Data()
    assert shared_paths(data) == ()
    data.other = Flip(data.rng)
    assert shared_paths(data) == ("dataset.rng", "dataset.other.rng")
    assert len(held_by(data)) == 3


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("count", [1, 50, 5000])
def test_drawing_is_told_from_rest_and_from_a_new_seed(kind, count):
    generator = MAKERS[kind](5)
    before = state_of(generator)
    assert drew(before, state_of(generator)) is False
    draw(kind, generator, count)
    assert drew(before, state_of(generator)) is True
    other = MAKERS[kind](6)
    draw(kind, other, 3)
    assert drew(before, state_of(other)) in (False, None)
    assert drew(before, state_of(other)) is not True


@pytest.mark.parametrize("kind", MAKERS)
def test_looking_draws_nothing(kind):
    generator, twin = MAKERS[kind](5), MAKERS[kind](5)
    state_of(generator)
    assert state_of(generator).digest == state_of(twin).digest
    draw(kind, generator, 4)
    draw(kind, twin, 4)
    assert state_of(generator).digest == state_of(twin).digest


def test_the_generators_of_the_process():
    before = global_states()
    assert global_states() == before
    torch.rand(1)
    np.random.rand(1)
    random.random()
    after = global_states()
    assert all(drew(before[name], after[name]) for name in ("torch", "random", "numpy.random"))
