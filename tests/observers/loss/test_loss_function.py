"""How loss functions take their arguments, and what their values say."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
import torch

from debugtracer.observers.loss.loss_function import (
    arguments,
    class_dim,
    counts,
    form_of,
    is_repeated,
    is_stretched,
    row_sums,
    rows_of,
    rows_outside,
    target_limits,
    target_values,
)


def form(given: torch.Tensor, dim: int = -1) -> str:
    low, high, sums, lse = (float(v) for v in row_sums(rows_of(given, dim % given.dim())))
    return form_of(low, high, sums, lse, given.dtype)


def test_defaults_are_filled_in():
    given = arguments("cross_entropy", (torch.zeros(2, 3), torch.zeros(2)), {"reduction": "sum"})
    assert (given["ignore_index"], given["reduction"], given["label_smoothing"]) == (-100, "sum", 0.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_normalised_rows_are_recognised_in_every_dtype(dtype):
    scores = torch.randn(40, 9, generator=torch.Generator().manual_seed(1)).to(dtype)
    assert form(scores) == "scores"
    assert form(scores.softmax(1)) == "probabilities"
    assert form(scores.log_softmax(1)) == "log_probabilities"


def test_the_classes_of_an_image_lie_in_dimension_one():
    maps = torch.randn(2, 5, 4, 4).softmax(1)
    assert class_dim("cross_entropy", maps) == 1
    assert form(maps, 1) == "probabilities"
    assert form(maps, 3) == "scores"


def test_ignored_and_weightless_targets_do_not_count():
    target = torch.tensor([0, 7, -100, 2])
    kept = counts(target, -100, None)
    assert [int(v) for v in target_values(target, kept, (0, 4))] == [3, 0, 7, 1]
    assert rows_outside(target, kept, (0, 4)) == (1,)
    soft = torch.tensor([0.0, -1.0, 1.0])
    assert [float(v) for v in target_values(soft, counts(soft, None, torch.tensor([1.0, 0.0, 1.0])), (0.0, 1.0))] == [
        2,
        0,
        1,
        0,
    ]


def test_only_indices_and_binary_targets_have_limits():
    assert target_limits("cross_entropy", torch.tensor([1]), 5) == (0, 4)
    assert target_limits("cross_entropy", torch.tensor([[0.1, 0.9]]), 2) is None
    assert target_limits("mse_loss", torch.tensor([9.0]), None) is None


def test_stretched_means_more_elements_than_either():
    assert is_stretched((32, 1), (32,))
    assert not is_stretched((32, 1), (1, 32))  # of equal rank: on purpose
    assert not is_stretched((32, 4), (4,))
    assert not is_stretched((32,), ())
    assert not is_stretched((32, 4), (5,))


def test_a_column_against_a_square_was_stretched_before():
    column, square = torch.zeros(5, 1), torch.zeros(5, 5)
    assert is_repeated(column, square) and is_repeated(square, column)
    others = [(column, torch.zeros(5)), (torch.zeros(1, 1), torch.zeros(1, 1)), (column, torch.zeros(5, 3))]
    assert [is_repeated(a, b) for a, b in (*others, (torch.zeros(5), square), (square, square))] == [False] * 5


def test_shapes_are_broadcast_as_torch_does():
    shapes = [shape for ranks in range(4) for shape in itertools.product((0, 1, 2, 3), repeat=ranks)]
    for a, b in itertools.product(shapes, repeat=2):
        try:
            whole = torch.broadcast_shapes(a, b).numel()
        except RuntimeError:
            whole = 0
        wanted = len(a) != len(b) and whole > max(torch.Size(a).numel(), torch.Size(b).numel())
        assert is_stretched(a, b) == wanted, (a, b)


def test_asking_for_shapes_imports_nothing():
    words = (
        "import sys, torch; from debugtracer.observers.loss.loss_function import is_stretched;"
        "before = set(sys.modules);"
        "print(is_stretched((32, 1), (32,)), len(set(sys.modules) - before))"
    )
    said = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "0"]
