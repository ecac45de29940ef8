"""How much of the way to its limit a check's number went."""

from __future__ import annotations

import pytest

from debugtracer.trace.nearness import Nearness, share_of


@pytest.mark.parametrize(
    ("value", "limit", "below", "share"),
    [
        (5.0, 10.0, False, 0.5),
        (20.0, 10.0, False, 2.0),
        (20.0, 10.0, True, 0.5),
        (5.0, 10.0, True, 2.0),
        (0.0, 1.0, True, 1.0),
    ],
)
def test_the_share_is_one_at_the_limit(value: float, limit: float, below: bool, share: float) -> None:
    assert share_of(value, limit, below) == share
    assert Nearness(what="x", value=value, limit=limit, step=0, below=below).share == share
