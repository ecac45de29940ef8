"""Lines that compute one minus a square."""

from __future__ import annotations

import pytest

from debugtracer.source.squares import one_minus_square


@pytest.mark.parametrize(
    ("code", "squared"),
    [
        ("log_prob -= torch.log(1 - action.pow(2) + epsilon)", "action"),
        ("y = (1.0 - out ** 2).sqrt()", "out"),
        ("y = torch.log(1 - self.a * self.a)", "self.a"),
        ("y = torch.log(1 - torch.square(a))", "a"),
        ("y = torch.log(1 - torch.pow(a, 2))", "a"),
        ("y = torch.log(1 - a.square())", "a"),
        ("y = torch.log(1 - a ** 3)", None),
        ("y = torch.log(2 - a ** 2)", None),
        ("y = torch.log(1 + a ** 2)", None),
        ("y = torch.log(1 - a * b)", None),
        ("y = torch.log(1 - a.pow(n))", None),
        ("y = torch.log(1 - a ** 2) + torch.log(1 - b ** 2)", None),
        ("y = torch.log(1 - a)", None),
        ("for x in", None),
    ],
)
def test_what_is_squared(code, squared):
    assert one_minus_square(code) == squared
