"""Nothing of the program sees what torch is asked in our measurements."""

from __future__ import annotations

import torch

from debugtracer.recorder.measuring import measuring
from tests.recorder.tape.test_foreign_modes import Names, Ops


class Counted(torch.Tensor):
    seen = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen += 1
        return super().__torch_function__(func, types, args, kwargs or {})


def test_modes_of_the_program_see_nothing():
    x = torch.ones(2)
    with Names() as names, Ops() as ops:
        for sharded in (False, True):
            with measuring(sharded):
                x.sum()
        assert (names.seen, ops.seen) == (0, 0)
        x.sum()
        assert (names.seen, ops.seen) == (1, 1)


def test_overrides_of_its_tensors_see_nothing():
    x = torch.ones(2).as_subclass(Counted)
    for sharded in (False, True):
        with measuring(sharded):
            assert float(x.sum()) == 2
    assert Counted.seen == 0
    x.sum()
    assert Counted.seen == 1
