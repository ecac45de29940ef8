"""Samples that are smooth as they are, in another order, or in none."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import interpolate

from debugtracer.observers.data.smooth_axes import restored_layout, smoothness

ROWS, HIGH, WIDE = 12, 24, 32


def pictures(channels=3, high=HIGH, wide=WIDE):
    torch.manual_seed(2)
    return interpolate(torch.rand(ROWS, channels, high // 4, wide // 4), size=(high, wide), mode="bilinear")


def last(x):
    return x.permute(0, 2, 3, 1).contiguous()


def walks():
    torch.manual_seed(2)
    return torch.randn(ROWS, 60, 6).cumsum(1)


def waves():
    torch.manual_seed(2)
    times = torch.arange(120) / 120
    return torch.sin(6.28 * (torch.randint(1, 60, (ROWS, 1, 1)) * times + torch.rand(ROWS, 12, 1)))


MISREAD = {
    "channels last as first": (lambda: last(pictures()).reshape(ROWS, 3, HIGH, WIDE), (HIGH, WIDE, 3)),
    "planes as pixels": (lambda: pictures().reshape(ROWS, HIGH, WIDE, 3), (3, HIGH, WIDE)),
    "planes as pixels, moved": (
        lambda: pictures().reshape(ROWS, HIGH, WIDE, 3).permute(0, 3, 1, 2), (3, HIGH, WIDE)
    ),
    "width and height": (lambda: pictures(1).reshape(ROWS, 1, WIDE, HIGH), (HIGH, WIDE)),
    "series": (lambda: walks().reshape(ROWS, 6, 60), (60, 6)),
    "square": (lambda: last(pictures(3, 32, 32)).reshape(ROWS, 3, 32, 32), (32, 32, 3)),
}  # fmt: skip
SOUND = {
    "first": pictures,
    "last": lambda: last(pictures()),
    "lying on their side": lambda: pictures().mT,
    "grey": lambda: pictures(1),
    "bytes": lambda: (pictures() * 255).byte(),
    "many channels": lambda: pictures(12),
    "series": walks,
    "series, time last": lambda: walks().mT,
    "waves": waves,
    "waves, time first": lambda: waves().mT,
    "noise": lambda: torch.randn(ROWS, 3, HIGH, WIDE),
    "letters": lambda: torch.eye(4)[torch.randint(0, 4, (ROWS, 60))],
    "points": lambda: torch.randn(ROWS, 256, 3) + torch.tensor([5.0, 0.0, 1.0]),
    "patches": lambda: last(pictures().unfold(2, 8, 8).unfold(3, 8, 8).flatten(2, 3).flatten(3)).flatten(2),
    "constant": lambda: torch.ones(ROWS, 3, HIGH, WIDE),
}


@pytest.mark.parametrize("name", MISREAD)
def test_the_order_in_which_the_values_were_written_is_found(name):
    made, sizes = MISREAD[name]
    found = restored_layout(made())
    assert found is not None and found.restored > 0.5
    assert 2 * (1 - found.restored) <= 1 - found.present
    assert found.sizes == sizes or name in ("width and height", "planes as pixels, moved")


@pytest.mark.parametrize("name", SOUND)
def test_what_is_as_it_was_written_or_smooth_in_no_order_is_left_alone(name):
    assert restored_layout(SOUND[name]()) is None


def test_few_samples_and_rows_of_one_axis_are_not_looked_at():
    assert restored_layout(MISREAD["series"][0]()[:4]) is None
    assert restored_layout(torch.randn(ROWS, 1, 500)) is None


def test_neighbours_of_a_ramp_are_alike_and_those_of_noise_are_not():
    ramp = torch.arange(50.0).expand(3, 10, 50)
    assert smoothness(ramp.double())[:, 1].min() > 0.99
    torch.manual_seed(0)
    assert smoothness(torch.randn(3, 40, 40).double()).abs().max() < 0.1
