"""Modes of the program see none of our calls, and are on the stack again afterwards."""

from __future__ import annotations

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.recorder.tape.foreign_modes import foreign, without_modes


class Ops(TorchDispatchMode):
    seen = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen += 1
        return func(*args, **(kwargs or {}))


class Names(TorchFunctionMode):
    seen = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen += 1
        return func(*args, **(kwargs or {}))


def test_inside_both_stacks_are_empty():
    assert not foreign()
    x = torch.ones(2)
    with Names() as outer, Names() as names, Ops() as ops:
        assert foreign()
        with without_modes():
            assert not foreign()
            x.sum()
        assert (outer.seen, names.seen, ops.seen) == (0, 0, 0)
        x.sum()
        assert (outer.seen, names.seen, ops.seen) == (1, 1, 1)
    assert not foreign()
