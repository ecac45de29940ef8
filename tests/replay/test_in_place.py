"""Values that code changes in place, and what cannot be taken back."""

from __future__ import annotations

import itertools
import queue
import random
import threading

import numpy as np
import pytest
import torch
from torch import nn

from debugtracer.replay.in_place import InPlace, cannot_go_back
from debugtracer.replay.user_state import UserStateGuard


def test_generators_and_arrays_come_back():
    own, theirs, plain, old, array = (
        torch.Generator().manual_seed(1),
        np.random.default_rng(2),
        random.Random(3),
        np.random.RandomState(4),
        np.zeros(3),
    )

    def draws():
        array[0] += 1
        return (
            float(torch.rand(1, generator=own)),
            float(theirs.random()),
            plain.random(),
            float(old.rand()),
            float(array[0]),
        )

    kept = InPlace()
    for value in (own, theirs, plain, old, array, own):
        kept.keep(value)
    first = draws()
    kept.restore()
    assert draws() == first
    assert len(kept.undo) == 5


def test_dense_tensors_are_copied_and_others_are_left():
    kept, dense = InPlace(), torch.ones(3)
    with torch.inference_mode():
        inference = torch.ones(2)
    for value in (dense, nn.Parameter(torch.ones(1)), torch.ones(2, 2).to_sparse(), inference, "text", 3):
        kept.keep(value)
    assert [tensor is dense for tensor, _ in kept.tensors] == [True]


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (queue.Queue(), "a queue"), (queue.SimpleQueue(), "a queue"), (iter([1]), "an iterator"),
        ((n for n in range(3)), "an iterator"), (itertools.count(), "an iterator"), (threading.Lock(), ""), ([1], ""),
        (range(3), ""), (torch.ones(1), ""), (None, ""),
    ],
)  # fmt: skip
def test_what_cannot_go_back(value, what):
    assert cannot_go_back(value) == what


def test_a_held_lock_cannot_and_an_open_file_can(tmp_path):
    lock = threading.Lock()
    with lock:
        assert cannot_go_back(lock) == "a lock that is held"
    with (tmp_path / "log").open("w") as file:
        assert cannot_go_back(file) == ""


class Reading(nn.Module):
    def __init__(self):
        super().__init__()
        self.source, self.spare = iter(range(9)), iter(range(9))

    def forward(self, x):
        return x * next(self.source)


class Idle(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = iter(range(9))

    def forward(self, x):
        return x


def test_an_iterator_that_forward_uses_refuses_and_an_unused_one_does_not():
    assert (
        UserStateGuard([Reading()], []).refusal
        == "the model's code uses an iterator (Reading.source), which another run of it would move on"
    )
    assert UserStateGuard([Idle()], []).refusal == ""


class Box:
    def __init__(self):
        self.count, self.values = 0, torch.zeros(2)


class Holding(nn.Module):
    def __init__(self):
        super().__init__()
        self.box, self.mean = Box(), torch.zeros(())

    def forward(self, x):
        self.box.count += 1
        self.box.values += 1
        self.mean += 1
        return x


def test_objects_of_the_user_and_plain_tensors_come_back():
    model = Holding()
    model(torch.ones(1))
    kept = UserStateGuard([model], [])
    model(torch.ones(1))
    kept.restore()
    for tensor, value in kept.in_place.tensors:
        tensor.data.copy_(value)
    assert (model.box.count, model.box.values.tolist(), float(model.mean)) == (1, [1.0, 1.0], 1.0)
