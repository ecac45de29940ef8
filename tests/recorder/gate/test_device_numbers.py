"""What the gate reads of a device, by torch's own operators."""

from __future__ import annotations

import math

import pytest
import torch

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


def test_nothing_to_measure_is_nothing_to_judge() -> None:
    assert DeviceNumbers().judged([], [torch.tensor(1.0)], None, True) is None
    assert DeviceNumbers().l2([]) is None
