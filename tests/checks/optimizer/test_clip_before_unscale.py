"""Clipping of scaled gradients."""

from __future__ import annotations

import pytest

from debugtracer.checks.optimizer.clip_before_unscale import ClipBeforeUnscale
from debugtracer.trace.facts.order import Call
from tests.checks.optimizer.seen import call, found, line, order


def clip(**more: object) -> Call:
    return call("clip", 50, **{"live": True, "scaled": True, "limit": 1.0, "scale": 16384.0, "norm": 6120.0, **more})


def test_it_names_the_clip_and_what_is_left():
    (finding,) = found(ClipBeforeUnscale(), [order(0, call("backward", live=True, scaled=True), clip())])
    assert finding.message == (
        "step 0, rank 0: clip (train.py:50) clips gradients that still carry the loss scale 16384: their norm 6120 is "
        "cut to 1, and after unscaling to "
        "6.1e-05; expected true gradients. Call scaler.unscale_(optimizer) before clipping."
    )
    assert (finding.kind, finding.exact, finding.place.frame) == ("amp_clip_scaled_grads", True, line(50))


@pytest.mark.parametrize(
    "healthy", [{"scaled": False}, {"limit": 16384.0}, {"scale": 1.0}, {"norm": 0.3}, {"scale": None}, {"limit": None}]
)
def test_true_gradients_scaled_limits_and_norms_below_the_limit_are_healthy(healthy: dict[str, object]):
    assert found(ClipBeforeUnscale(), [order(0, clip(**healthy))]) == []


def test_an_unread_norm_does_not_hide_it():
    assert len(found(ClipBeforeUnscale(), [order(0, clip(norm=None))])) == 1
