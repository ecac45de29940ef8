"""A batch of twice the rows and epsilons that are larger: what is refused, what is changed, and the words for it."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.interventions.larger_batch import LargerBatch, noise_scale, noise_words
from debugtracer.interventions.larger_eps import LargerEps
from debugtracer.trace.birth import Birth, Frame


def a_rerun(*pairs, rows=None):
    """Inputs with what stood in their place in the last healthy step."""
    leaves = [SimpleNamespace(tensor=given) for given, _ in pairs]
    healthy = {id(leaf): other for leaf, (_, other) in zip(leaves, pairs, strict=True) if other is not None}
    return SimpleNamespace(
        batch=leaves, healthy=healthy, inputs={}, rows=rows, on_gradients=[], grad_l2_usual=None, described=None,
        value=lambda leaf: leaf.tensor,
    )  # fmt: skip


X = torch.ones(4, 2)


@pytest.mark.parametrize(
    ("rerun", "why"),
    [
        (a_rerun((X, X[:3])), ""),
        (a_rerun(), "no input of the step has the rows of a batch"),
        (a_rerun((X, X), (X, None)), "not every input of the step has a counterpart in the last healthy step"),
        (a_rerun((X, torch.ones(4, 3))), "the batch of the last healthy step has another shape"),
        (a_rerun((X, X.double())), "the batch of the last healthy step has another shape"),
    ],
)
def test_each_input_needs_a_counterpart_of_its_kind(rerun, why):
    assert LargerBatch().refuses(rerun) == why


@pytest.mark.parametrize(("rows", "both"), [(None, 7), (4, 7), (8, 11)])
def test_rows_are_put_together_and_counted(rows, both):
    rerun = a_rerun((X, X[:3]), (torch.zeros(4), torch.ones(3)), rows=rows)
    assert LargerBatch().apply(rerun) == f"{both} rows: this batch and that of the last healthy step"
    assert [len(one) for one in rerun.inputs.values()] == [7, 7]
    assert rerun.described().endswith("healthy step")
    rerun.on_gradients[0]([torch.tensor([3.0]), torch.tensor([4.0])])
    assert rerun.described().endswith("cannot be told from gradients of two sizes of batch")


def test_the_norm_is_that_of_all_gradients():
    rerun = a_rerun((X, X))
    LargerBatch().apply(rerun)
    rerun.on_gradients[0]([torch.tensor([3.0]), torch.tensor([4.0])])
    rerun.grad_l2_usual = 6.0
    assert rerun.described().endswith(noise_words(6.0, 4, 5.0, 8))


@pytest.mark.parametrize(
    ("small", "large", "expected"),
    [
        (6.0, 5.0, 88 / 14),
        (5.0, 5.0, None),
        (5.0, 6.0, None),
        (10.0, 5.0, None),
        (math.inf, 5.0, None),
        (8.0, 6.0, 28 * 8 / 8.0),
    ],
)
def test_noise_over_signal_where_both_are_there(small, large, expected):
    found = noise_scale(small, 4, large, 8)
    assert found == (None if expected is None else pytest.approx(expected))


def stepping(eps=None, roots=(), frame=None, symptom="nan_loss"):
    optimizers = [] if eps is None else [SimpleNamespace(param_groups=[{"eps": one} for one in eps])]
    birth = Birth(op=None, direction="forward", kind="domain", frames=(frame,)) if frame else None
    return SimpleNamespace(
        optimizers=optimizers, roots=list(roots), birth=birth, symptom=symptom, on_update=[], throughout=[], doubts=[],
        around=[], described=lambda: "", module=lambda: None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("eps", "refused"), [((1e-8,), False), ((1e-4,), True), ((1.0, 1e-8), False), ((None,), True), ((0,), True)]
)
def test_an_update_needs_an_optimizer_with_a_smaller_eps(eps, refused):
    rerun = stepping(eps, symptom="bad_update")
    assert (LargerEps(1e-4).refuses(rerun) == "the optimizer has no eps below 0.0001") is refused
    assert bool(LargerEps(1e-4).groups(rerun)) is not refused


def test_the_eps_of_each_group_is_raised():
    rerun = stepping((1e-8, 1.0, None, 0), symptom="bad_update")
    assert LargerEps(1e-4).apply(rerun) == "eps of SimpleNamespace raised to 0.0001"
    rerun.on_update[0](rerun.optimizers[0])
    assert [group["eps"] for group in rerun.optimizers[0].param_groups] == [1e-4, 1.0, None, 0]


@pytest.mark.parametrize(("eps", "smaller"), [(1e-5, 1), (1e-4, 0), (1e-3, 0)])
def test_modules_with_a_smaller_eps_have_it_raised_while_the_step_runs(eps, smaller):
    norm = nn.LayerNorm(2, eps=eps)
    rerun = stepping(roots=[nn.Sequential(norm, nn.Linear(2, 2))])
    assert len(LargerEps(1e-4).modules(rerun)) == smaller
    assert bool(LargerEps(1e-4).refuses(rerun)) is (smaller == 0)
    said = LargerEps(1e-4).apply(rerun)
    assert said == ("eps of 1 normalisation module raised to 0.0001" if smaller else "eps raised to 0.0001")
    with rerun.throughout[0]:
        assert norm.eps == (1e-4 if smaller else eps)
    assert norm.eps == eps


def test_two_modules_are_told_as_two():
    rerun = stepping(roots=[nn.Sequential(nn.LayerNorm(2), nn.LayerNorm(2))])
    assert LargerEps(1e-4).apply(rerun) == "eps of 2 normalisation modules raised to 0.0001"


def test_a_guilty_line_may_hold_an_eps_of_its_own():
    frame = Frame("/home/someone/project/model.py", 9, "forward")
    assert LargerEps(1e-4).refuses(stepping(frame=frame)) == ""
    assert LargerEps(1e-4).refuses(stepping()) == "no module of the step has an eps below 0.0001"
    alone = stepping(frame=frame)
    LargerEps(1e-4).apply(alone)
    assert "nor forward have an eps below 0.0001" in alone.doubts[0]()
    beside = stepping(frame=frame, roots=[nn.LayerNorm(2)])
    LargerEps(1e-4).apply(beside)
    assert beside.doubts[0]() == "" and beside.described() == "eps of 1 normalisation module raised to 0.0001"
