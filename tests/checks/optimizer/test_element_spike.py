"""Elements of a gradient far beyond their second moment."""

from __future__ import annotations

from debugtracer.checks.optimizer.element_spike import ElementSpike
from debugtracer.trace.facts.element_spikes import ElementSpikes
from debugtracer.trace.window import Window
from tests.trace.facts.test_element_spikes import some_spikes


def judged(fact):
    return list(ElementSpike().judge(Window(ref=fact.ref, facts={ElementSpikes: [fact]}, came={ElementSpikes: 1})))


def test_many_such_elements_are_a_note_that_names_the_layer():
    (finding,) = judged(some_spikes())
    assert (finding.severity, finding.place.param, finding.kind) == ("note", "head.weight", "adam_instability")
    assert finding.message == (
        "step 537, rank 0: in 1 of 4 parameters g^2 is above 5000 times AdamW's second moment, most in head.weight "
        "(88% of its elements, up to 1.3e+06 times); "
        "expected no such element. Look at the batch of this step; clip the gradient."
    )


def test_at_the_thresholds():
    assert judged(some_spikes(spiked=51))
    assert judged(some_spikes(spiked=50)) == []
    assert judged(some_spikes(sampled=100, spiked=8))
    assert judged(some_spikes(sampled=100, spiked=7)) == []


def test_a_young_second_moment_says_nothing():
    assert judged(some_spikes(age=199)) == []
    assert judged(some_spikes(age=200))
