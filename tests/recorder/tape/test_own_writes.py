"""What the loop itself writes into its weights is known by line, whether a replay executes it or not."""

from __future__ import annotations

import gc

import torch
from torch import nn

from debugtracer.recorder.tape.own_writes import OwnWrites


def test_the_last_write_into_a_trained_leaf_is_kept():
    writes, weight = OwnWrites(), nn.Parameter(torch.ones(2))
    writes.note(weight, "mul_", ("first",), replayed=True)
    writes.note(weight, "copy_", ("second",), replayed=False, source=("made",))
    ((tensor, write),) = writes.all()
    assert tensor is weight
    assert (write.function, write.frames, write.replayed, write.source) == ("copy_", ("second",), False, ("made",))


def test_only_a_write_beside_a_gradient_is_an_update():
    writes, weight = OwnWrites(), nn.Parameter(torch.ones(2))
    writes.note(weight, "normal_", (), replayed=False)
    assert not writes.of_trained
    weight.grad = torch.ones(2)
    writes.note(weight, "sub_", (), replayed=False)
    assert writes.of_trained


def test_a_tensor_that_nobody_trains_is_left_out():
    writes = OwnWrites()
    writes.note(torch.ones(2), "mul_", (), replayed=True)
    writes.note(torch.ones(2, requires_grad=True) * 2, "mul_", (), replayed=True)
    assert writes.all() == []


def test_no_tensor_is_kept_alive():
    writes, weight = OwnWrites(), nn.Parameter(torch.ones(2))
    writes.note(weight, "mul_", (), replayed=True)
    del weight
    gc.collect()
    assert writes.all() == []


def test_a_segment_that_starts_later_does_not_execute_them_again():
    writes, weight = OwnWrites(), nn.Parameter(torch.ones(2))
    writes.note(weight, "mul_", (), replayed=True)
    assert not writes.not_replayed().all()[0][1].replayed
