"""Has an average of the weights left its first values when it is evaluated?"""

from __future__ import annotations

from debugtracer.checks.optimizer.average_lags import AverageLags
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.slow_average import SlowAverage
from tests.checks.facts_at import judged, line, ref

MAXIMUM = Frame("ema.py", 40, "get_decay", "return max(self.decay, (1 + n) / (10 + n))")


def average(given):
    return SlowAverage(
        ref=ref(240), param="fc.weight", share=0.0001, updates=240, covered=0.024, evaluated=0.03, frame=line(51),
        given=given, called=line(198),
    )  # fmt: skip


def test_a_maximum_of_two_decays_is_told_at_its_line():
    (finding,) = judged(AverageLags(), [average(MAXIMUM)], ended=True)
    assert finding.message == (
        "step 240, rank 0: ema.py:40 gives the average of the weights 0.0001 of them in an update (train.py:51): after "
        "240 updates it has covered 0.024 of the way from its first values to the trained weights, and it is evaluated "
        "there (train.py:198); expected most of the way. A warm-up takes the smaller: min(decay, (1 + n) / (10 + n))."
    )
    assert (finding.severity, finding.place.frame, finding.place.symptom_frame) == ("warning", MAXIMUM, line(51))


def test_a_constant_is_told_where_it_averages_if_nothing_else_gives_it():
    (finding,) = judged(AverageLags(), [average(None)], ended=True)
    assert finding.place.frame == line(51)
    assert finding.message.endswith(
        "The decay is too near to 1. Let it grow from a small one, or take about 0.9583 in 240 updates."
    )
