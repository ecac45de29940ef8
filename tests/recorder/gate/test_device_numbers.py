"""What the gate reads of a device, by torch's own operators."""

from __future__ import annotations

import math

import pytest
import torch

from debugtracer.devices.cpu import Cpu
from debugtracer.recorder.gate.device_numbers import DeviceNumbers


@pytest.mark.parametrize(
    ("gradients", "losses", "beside", "exact", "want"),
    [
        ([[3.0], [4.0]], [0.5], 2.0, True, [5.0, 2.0, 0.0, 0.5]),
        ([[3.0], [4.0]], [], None, True, [5.0, 0.0, 0.0]),
        ([[3e38, 3e38]], [], None, True, [math.inf, 0.0, 0.0]),
        ([[3e38, 3e38]], [], None, False, [math.inf, 0.0, 1.0]),
        ([[3.0, 4.0]], [math.inf], None, True, [5.0, 0.0, 1.0, math.inf]),
    ],
    ids=["all", "nothing beside", "overflow", "overflow, norm alone", "loss"],
)
def test_the_vector_and_the_flag(gradients, losses, beside, exact, want) -> None:
    judged = DeviceNumbers().judged(
        [torch.tensor(g) for g in gradients],
        [torch.tensor(loss, dtype=torch.float64) for loss in losses],
        None if beside is None else torch.tensor(beside),
        exact,
    )
    assert judged is not None
    assert judged.numbers.dtype == torch.float64 and judged.numbers.tolist() == want
    assert judged.flag.dtype == torch.float32 and judged.flag.item() == want[2]


@pytest.mark.parametrize("doubles", [True, False])
@pytest.mark.parametrize(
    ("gradients", "norms", "finite"),
    [
        ([torch.tensor([3.0, 4.0]), torch.tensor([0.0])], 2, True),
        ([torch.tensor([3e38, 3e38]), torch.tensor([1.0])], 2, True),
        ([torch.tensor([3.0, math.inf]), torch.tensor([1.0])], 2, False),
        ([torch.tensor([3e38], dtype=torch.bfloat16), torch.tensor([3e38], dtype=torch.bfloat16)], 2, True),
        ([torch.tensor([3e38, 3e38]), torch.tensor([1.0], dtype=torch.float64)], 1, True),
        ([torch.tensor([1e200, 1e200], dtype=torch.float64)], 1, True),
        ([torch.tensor([1e200, -math.inf], dtype=torch.float64)], 1, False),
    ],
)
def test_what_is_not_finite_is_told_exactly(
    gradients: list[torch.Tensor], norms: int, finite: bool, doubles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cpu, "sums_float64", doubles)
    told = DeviceNumbers().exact_norms(gradients)
    assert told is not None and len(told[0]) == norms
    assert bool(told[1]) is not (doubles and norms == len(gradients) > 1)
    assert all(math.isfinite(value) for value in map(torch.Tensor.item, told[1] or told[0])) is finite


def test_nothing_to_measure_is_nothing_to_judge() -> None:
    assert DeviceNumbers().exact_norms([]) is None
    assert DeviceNumbers().judged([], [torch.tensor(1.0)], None, True) is None
    assert DeviceNumbers().l2([]) is None
