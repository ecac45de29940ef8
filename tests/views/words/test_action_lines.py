"""A line for each action and each effect, from where the last reader stopped."""

from __future__ import annotations

from pathlib import Path

from debugtracer.testing import AT, a_trace
from debugtracer.trace.events import Acted, ActionEffect
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.words.action_lines import EFFECT, action_lines


def test_an_effect_stands_where_it_was_measured(tmp_path: Path) -> None:
    samples = tuple(range(20))
    done = Acted(at=AT, rank=1, action="skip-update", iteration=5, step=5, reason="the loss is NaN", samples=samples)
    came = ActionEffect(at=AT, rank=1, step=5, after=20, loss_before=None, loss_after=None, bad=2)
    trace = open_trace(a_trace(tmp_path, done, came, ranks=2))
    assert action_lines(trace, 0) == []
    assert [(line.step, line.word) for line in action_lines(trace, 1)] == [(5, "skip-update"), (25, EFFECT)]
    assert action_lines(trace, 1)[0].text == "the loss is NaN; dataset samples 0, 1, 2, 3, 4, 5, 6, 7 ..."
    assert action_lines(trace, 1)[1].cells == [25, EFFECT, "of the action at step 5: 20 steps later: 2 more bad steps"]
    assert action_lines(trace, 1, after=1) == action_lines(trace, 1)[1:]
