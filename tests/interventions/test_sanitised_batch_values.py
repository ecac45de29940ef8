"""What of a tensor is repaired: floats by what is finite, whole numbers only by a healthy batch of their kind."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.sanitised_batch import SanitisedBatch, cleaned

LABELS = torch.tensor([-1, 2, 4, 5, 9])
HEALTHY = torch.tensor([2, 3, 5])


def test_labels_outside_those_of_a_healthy_batch_become_the_least_of_them():
    assert cleaned(LABELS, HEALTHY).tolist() == [2, 2, 4, 5, 2]
    assert cleaned(torch.tensor([2, 5]), HEALTHY).tolist() == [2, 5]


@pytest.mark.parametrize(
    ("values", "healthy"),
    [
        (LABELS, None),
        (LABELS, torch.empty(0, dtype=torch.int64)),
        (LABELS, HEALTHY.int()),
        (LABELS, torch.tensor([0.5, 1.0])),
        (torch.tensor([True, False]), torch.tensor([True, True])),
    ],
)
def test_whole_numbers_stay_where_no_healthy_ones_of_their_kind_are_known(values, healthy):
    assert cleaned(values, healthy) is values


@pytest.mark.parametrize(
    ("healthy", "expected"),
    [
        (None, [0.0, 2.0, -1.0, 2.0, -1.0]),
        (torch.tensor([0.0, 1.0, math.inf]), [0.0, 1.0, 0.0, 1.0, 0.0]),
        (torch.tensor([3, 4]), [0.0, 2.0, -1.0, 2.0, -1.0]),
        (torch.tensor([math.nan]), [0.0, 0.0, 0.0, 2.0, -1.0]),
    ],
)
def test_floats_come_into_the_finite_range(healthy, expected):
    values = torch.tensor([math.nan, math.inf, -math.inf, 2.0, -1.0])
    assert cleaned(values, healthy).tolist() == expected


def a_tape(*values):
    return SimpleNamespace(
        batch=lambda: iter([(f"batch[{n}]", n) for n in range(len(values))]), value=lambda ref: values[ref], replaced={}
    )


def test_of_a_capsule_only_what_was_bad_is_replaced():
    tape = a_tape(torch.tensor([1.0, math.nan]), torch.tensor([1.0, 2.0]))
    assert SanitisedBatch().offline(tape) == "1 value of the batch repaired"
    assert list(tape.replaced) == [0] and tape.replaced[0].tolist() == [1.0, 1.0]
    two = a_tape(torch.tensor([1.0, math.nan]), torch.tensor([math.inf, 2.0]))
    assert SanitisedBatch().offline(two) == "2 values of the batch repaired" and list(two.replaced) == [0, 1]


@pytest.mark.parametrize(
    ("values", "why"),
    [((torch.ones(2),), "every value of the batch is finite"), ((), "no input of the step has the rows of a batch")],
)
def test_a_batch_with_nothing_to_repair_is_refused(values, why):
    with pytest.raises(ReplayRefused, match=why):
        SanitisedBatch().offline(a_tape(*values))


def a_rerun(values, healthy=None):
    leaf = object()
    known = {id(leaf): healthy} if healthy is not None else {}
    return SimpleNamespace(batch=[leaf], value=lambda one: values, healthy=known, inputs={})


def test_a_value_that_is_nan_on_both_sides_was_not_changed():
    with pytest.raises(ReplayRefused):
        SanitisedBatch().apply(a_rerun(torch.tensor([1.0, 2.0])))
    rerun = a_rerun(torch.tensor([1.0, 7.0, 8.0]), torch.tensor([1.0, 2.0]))
    assert SanitisedBatch().apply(rerun).startswith("2 values of the batch") and len(rerun.inputs) == 1
    assert SanitisedBatch().apply(a_rerun(torch.tensor([math.nan, 1.0]))).startswith("1 value of the batch")
