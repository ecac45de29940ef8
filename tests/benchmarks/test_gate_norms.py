"""The gradients that the gate's kernels are timed on."""

from __future__ import annotations

import torch
from benchmarks.gate_norms import LAYERS, gradients


def test_they_are_as_many_and_as_large_as_those_of_gpt2() -> None:
    given = gradients(torch.bfloat16, "meta", LAYERS)
    assert (len(given), sum(g.numel() for g in given)) == (148, 124_439_808)
    assert {g.dtype for g in given} == {torch.bfloat16}
