"""The line that a broken invariant asks for, tried on the steps that are kept."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from debugtracer import session
from debugtracer.diagnosis.loop_fix import TAIL, mended
from debugtracer.errors import ReplayRefused
from debugtracer.trace.finding import Finding
from tests.replay.pasts import STEPS, Loop, bits, trained
from tests.watching import same_bits


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def a_finding(kind: str | None = "stale_gradients", severity: Any = "error") -> Finding:
    return Finding(
        check="optimizer/zero-grad-missing",
        layer="optimizer",
        severity=severity,
        iteration=1,
        step=1,
        message="step 1, rank 0: never cleared",
        kind=kind,
        exact=True,
        confidence=0.9,
    )


def never_cleared(lr: float) -> Loop:
    loop = Loop(lambda p: torch.optim.SGD(p, lr=lr))
    loop.clear = lambda: None
    return loop


def mean(losses: list[float]) -> float:
    return sum(losses[-TAIL:]) / TAIL


def test_a_fix_that_helps_is_told_with_both_losses(tmp_path):
    loop = never_cleared(0.3)
    with trained(tmp_path, loop, trials=0) as (watching, past, context), watching.stack.paused():
        before = bits(loop)
        verdict = mended(a_finding(), past, context)
        assert all(map(same_bits, bits(loop), before))
    start = past.segments[0].first_step
    with_it = mean(loop.by_hand(start, list(range(start, STEPS))))
    assert with_it < mean(loop.losses)
    assert verdict is not None
    assert [(t.intervention, t.outcome) for t in verdict.trials] == [
        ("unchanged", "reproduced"),
        ("one-line-fix", "healed"),
    ]
    assert verdict.tested == (
        f"with gradients cleared at the beginning of each of the last {STEPS - start} steps: "
        f"mean loss of the last {TAIL} of them {with_it:.4g}, as it was {mean(loop.losses):.4g}"
    )
    assert (verdict.kind, verdict.status, verdict.confidence) == ("stale_gradients", "confirmed", 0.97)


def test_a_fix_that_does_not_help_is_not_praised(tmp_path):
    loop = Loop(lambda p: torch.optim.SGD(p, lr=1e-3))
    target = loop.data[0]
    loop.data = [target] * STEPS  # with one batch and a tiny rate, summed gradients only go the same way further
    loop.clear = lambda: None
    with trained(tmp_path, loop, trials=0) as (watching, past, context), watching.stack.paused():
        verdict = mended(a_finding(), past, context)
    assert verdict is not None
    assert [t.outcome for t in verdict.trials] == ["reproduced", "not healed"]
    assert verdict.tested == ""


def test_what_no_line_cures_is_not_tried(tmp_path):
    with trained(tmp_path, never_cleared(0.3), trials=0) as (watching, past, context), watching.stack.paused():
        assert mended(a_finding("lr_too_high"), past, context) is None
        assert mended(a_finding(severity="note"), past, context) is None


def test_steps_that_do_not_lead_to_the_recorded_losses_prove_nothing(tmp_path):
    loop = never_cleared(0.3)
    loop.at[STEPS - 2] = lambda: loop.model[2].bias.detach().numpy().fill(30.0)
    departs = pytest.raises(ReplayRefused, match=f"they lead away from the recorded losses at step {STEPS - 2}")
    with trained(tmp_path, loop, trials=0) as (watching, past, context), watching.stack.paused(), departs:
        mended(a_finding(), past, context)
