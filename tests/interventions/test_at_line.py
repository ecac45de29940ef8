"""Which line makes a call: as the modes that are built on it see it."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor

from debugtracer.interventions.at_line import bare
from debugtracer.interventions.raised_eps import Raised
from debugtracer.interventions.stable_op import Stable
from debugtracer.trace.birth import Frame

LOG = frozenset({"log"})


def two(x: Tensor) -> Tensor:
    first = torch.log(x)
    return torch.log(x) + first


def test_one_line_of_a_function_is_told_from_the_next():
    line, x = inspect.getsourcelines(two)[1] + 1, torch.zeros(2)
    with Stable(LOG, frozenset(), Frame(__file__, line, "two"), 1e-6) as mode:
        made = two(x)
        torch.log(x)
    assert mode.described() == f"clamp_min(1e-06) before the logarithm at test_at_line.py:{line}"
    assert made.tolist() == [-torch.inf, -torch.inf]


def test_the_whole_function_and_nothing_else():
    line = inspect.getsourcelines(two)[1]
    with Raised(Frame(__file__, line, "test_the_whole_function_and_nothing_else"), 1e-4) as mode:
        torch.ones(1) + 1e-9
        other = (lambda x: x + 1e-9)(torch.ones(1))
    assert (len(mode.seen), other.tolist()) == (1, [1.0])


def test_what_the_tape_has_recorded_counts_more_than_the_live_stack():
    guilty, x = Frame("/train.py", 7, "<module>"), torch.zeros(2)
    with Stable(LOG, frozenset(), guilty, 1e-6) as mode:
        mode.recorded = Frame("/train.py", 8, "<module>")
        assert torch.log(x).isinf().all()
        mode.recorded = guilty
        assert torch.log(x).isfinite().all()
    assert mode.described() == "clamp_min(1e-06) before the logarithm at train.py:7"


def test_names_are_bare():
    assert [bare(f) for f in (torch.Tensor.__rdiv__, torch.Tensor.add_, torch.remainder, torch.relu)] == [
        "div",
        "add",
        "remainder",
        "relu",
    ]
