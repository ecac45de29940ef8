"""A mean that hides a spike."""

from __future__ import annotations

from debugtracer.checks.logging.average_hides import AverageHides
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.window import Window
from tests.checks.crashes import REF


def judged(losses, value):
    memories, check, found = {}, AverageHides(), []
    for place, loss in enumerate(losses):
        facts = (
            {Logged: [Logged(ref=REF, source="tensorboard", name="loss", value=value, ratio=1.0)]}
            if place == len(losses) - 1
            else {}
        )
        came = dict.fromkeys(facts, 1)
        found += check.judge(
            Window(
                ref=REF, series={"loss": (loss,)}, fresh=frozenset({"loss"}), facts=facts, came=came, memories=memories
            )
        )
    return found


def test_a_spike_between_two_logs_is_a_note():
    (finding,) = judged([0.5] * 9 + [41.3] + [0.5] * 4, 0.52)
    assert finding.message == (
        "step 5, rank 0: loss says 0.52 while one loss since the last log was 41.3; expected it to be seen. Log the "
        "largest loss beside the mean."
    )
    assert finding.severity == "note"


def test_quiet_losses_and_a_log_that_shows_the_spike_are_silent():
    assert judged([0.5] * 14, 0.52) == []
    assert judged([0.5] * 9 + [41.3] + [0.5] * 4, 41.3) == []
