"""The numbers of a step in one vector: what they say, and how many operators they take."""

from __future__ import annotations

import math

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from debugtracer.devices.cpu import Cpu
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.late_numbers import LateNumbers, as_number, each_l2

JUDGED = 7  # two fused norms, or one and a cast of the loss; the stack, and product, sum, comparison, cast of the flag
OPERATORS = 3  # the fused norm, the stack, and what a view or a cast of the loss takes


class Counted(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls.append(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("count", [3, 300])
def test_a_step_takes_few_operators_whatever_the_number_of_tensors(count: int) -> None:
    gradients, loss = [torch.full((4,), 2.0) for _ in range(count)], torch.tensor(1.5, requires_grad=True)
    with Counted() as counted:
        norms = each_l2(gradients)
        assert norms is not None
        numbers = LateNumbers(norms, [loss])
        numbers.add_weights(norms)
        vector = numbers.vector()
    assert len([name for name in counted.calls if not name.startswith(("detach", "_reshape", "view"))]) <= OPERATORS
    assert (numbers.gradients, numbers.losses, vector.tolist()) == (count, 1, [4.0] * count + [1.5] + [4.0] * count)


@pytest.mark.parametrize(
    "tensors",
    [
        [torch.ones(2), torch.ones(2, dtype=torch.float64)],
        [torch.ones(2, dtype=torch.float64)],
        [torch.ones(2), torch.ones(2, device="meta")],
        [],
        [torch.tensor([1, 2])],
    ],
)
def test_what_one_call_cannot_measure_is_left_to_the_norm_over_all(tensors: list[torch.Tensor]) -> None:
    assert (each_l2(tensors) is None) is not any(t.is_meta for t in tensors) or len(each_l2(tensors) or []) == 1


@pytest.mark.parametrize(
    ("loss", "expected", "dtype"),
    [
        (torch.tensor([2.0]), 2.0, torch.float32),
        (torch.tensor([1.0, 3.0]), 2.0, torch.float64),
        (torch.tensor(2.5, dtype=torch.bfloat16), 2.5, torch.float32),
        (torch.tensor(1e39, dtype=torch.float64), 1e39, torch.float64),
        (torch.tensor(math.inf), math.inf, torch.float32),
    ],
)
def test_a_loss_of_any_shape_is_one_number_and_none_overflows(
    loss: torch.Tensor, expected: float, dtype: torch.dtype
) -> None:
    found = as_number(loss, torch.tensor(1.0))
    assert (found.shape, found.dtype, found.item()) == ((), dtype, expected)


@pytest.mark.parametrize(
    ("gradient", "loss", "bad"),
    [
        (1.0, 2.0, 0.0),
        (math.nan, 2.0, 1.0),
        (-math.inf, 2.0, 1.0),
        (1.0, math.inf, 1.0),
        (1.0, math.nan, 1.0),
        (3e38, 2.0, 0.0),  # only the norm overflows
        (1e-42, -3.0, 0.0),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("doubles", [True, False])
def test_the_device_judges_exactly_by_few_operators(
    gradient: float, loss: float, bad: float, dtype: torch.dtype, doubles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cpu, "sums_float64", doubles)
    gradients = [
        torch.tensor([1.0, gradient, 1.0], dtype=dtype),
        torch.ones(4, dtype=dtype),
        torch.empty(0, dtype=dtype),
    ]
    said = torch.tensor(loss)
    with Counted() as counted:
        told = DeviceNumbers().exact_norms(gradients)
        assert told is not None
        numbers = LateNumbers(told[0], [said], told[1])
        flag = numbers.flag()
    made = [name for name in counted.calls if not name.startswith(("detach", "_reshape", "view", "slice"))]
    assert len(made) <= JUDGED, made
    assert (flag.shape, flag.dtype, flag.item()) == ((), torch.float32, bad)
    assert len(numbers.vector()) == 3 + (0 if doubles else 2) + 1
    numbers.add_weights([torch.tensor(7.0)])
    assert numbers.vector()[-1] == 7.0
