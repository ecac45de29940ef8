"""What was done is told in each view: why, with which samples, and what came of it."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import AT, a_trace
from debugtracer.trace.events import Acted, ActionEffect
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.words import actions

REASON = "the loss is NaN; its update was left out"


def acted(step: int, action: str = "skip-update", samples: tuple[int, ...] | None = (4, 9)) -> Acted:
    return Acted(
        at=AT,
        action=action,
        iteration=step,
        step=step,
        reason=REASON,
        samples=samples,
    )


def an_effect(step: int, bad: int = 0, after: float | None = 0.25) -> ActionEffect:
    return ActionEffect(at=AT, step=step, after=20, loss_before=0.5, loss_after=after, bad=bad)


def test_an_action_is_told_with_its_samples_and_its_effect(tmp_path: Path) -> None:
    trace = open_trace(a_trace(tmp_path, acted(7), an_effect(7)))
    ((label, text, _),) = actions.rows(trace, None)
    assert label == "skip-update"
    assert text == (
        f"step 7, rank 0: {REASON}; dataset samples 4, 9; 20 steps later the loss is 0.25 (0.5 before it), no further "
        "bad step"
    )


def test_an_effect_without_a_loss_counts_bad_steps() -> None:
    assert actions.outcome(an_effect(7, bad=1, after=None)) == "20 steps later: 1 more bad step"


def test_of_many_the_first_and_the_last_are_told(tmp_path: Path) -> None:
    trace = open_trace(a_trace(tmp_path, *(acted(step) for step in range(20)), acted(20, "stop")))
    told = actions.rows(trace, None)
    assert len(told) == actions.SHOWN + 1
    assert told[-1][0] == "stop"
    assert told[-2][1] == "and between them 13 skip-update: `--format json` lists all"


def test_programs_get_all_of_them(tmp_path: Path) -> None:
    trace = open_trace(a_trace(tmp_path, *(acted(step) for step in range(20)), an_effect(3)))
    plain = actions.plain(trace)
    assert len(plain) == 20
    assert plain[3]["samples"] == [4, 9]
    assert plain[3]["effect"] == {"after": 20, "loss_before": 0.5, "loss_after": 0.25, "bad": 0, "helped": True}
    assert "effect" not in plain[4]
