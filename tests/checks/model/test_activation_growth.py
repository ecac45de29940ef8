"""Activations through the depth of the model."""

from __future__ import annotations

from debugtracer.checks.model.activation_growth import ActivationGrowth
from debugtracer.trace.facts.health import Health
from debugtracer.trace.window import ENDED, Window
from tests.checks.test_snapshots import a_snapshot, an_activation, judged


def layers(*sizes, step=0, function="Linear"):
    root = (64 * 32) ** 0.5
    return a_snapshot(step, *(an_activation(f"layers.{i}", function, l2=size * root) for i, size in enumerate(sizes)))


def test_growth_by_orders_of_magnitude_is_a_warning_at_the_first_step():
    (finding,) = judged(ActivationGrowth(), layers(5, 50, 500, 5000, 1.0))
    assert (finding.severity, finding.kind, finding.place.module) == ("warning", "bad_init", "layers.3")
    assert finding.message == (
        "step 0, rank 0: the outputs of 4 linear layers grow 10 times a layer at the start, to 5e+03 at layers.3; "
        "expected to keep their size. "
        "Look at the initialisation."
    )


SHRUNK = (0.1, 0.01, 0.001, 0.0001, 1.0)


def test_shrinking_is_told_when_training_has_not_mended_it():
    begin, early = layers(*SHRUNK), layers(*SHRUNK, step=2)
    assert judged(ActivationGrowth(), begin, early) == []
    (found,) = judged(ActivationGrowth(), begin, early, layers(*SHRUNK, step=50), layers(*SHRUNK, step=100))
    assert "shrink 10 times a layer" in found.message
    assert (found.severity, found.step) == ("warning", 0)


def test_shrinking_is_a_note_where_training_has_mended_it():
    (found,) = judged(ActivationGrowth(), layers(*SHRUNK), layers(0.1, 0.1, 0.2, 0.3, 1.0, step=50))
    assert found.severity == "note"
    assert found.message.endswith("Nothing if it learns: they have a size of 0.3 at step 50.")


def test_shrinking_is_told_at_the_end_of_a_short_run():
    check, memories = ActivationGrowth(), {}
    assert judged_in(check, layers(*SHRUNK), memories) == []
    (found,) = judged_in(check, layers(*SHRUNK, step=31), memories, frozenset({ENDED}))
    assert found.severity == "warning"


def judged_in(check, fact, memories, flags=frozenset()):
    """What it says of one snapshot."""
    window = Window(ref=fact.ref, facts={Health: (fact,)}, came={Health: 1}, memories=memories, flags=flags)
    return list(check.judge(window))


def test_a_network_that_keeps_its_size_a_large_head_and_later_steps_are_left_alone():
    assert judged(ActivationGrowth(), layers(1, 2, 1.5, 3, 2)) == []
    assert judged(ActivationGrowth(), layers(1, 2, 1.5, 3, 1e6)) == []
    assert judged(ActivationGrowth(), layers(5, 50, 500, 5000, 1.0, step=100)) == []
    assert judged(ActivationGrowth(), layers(5, 50, 5000)) == []
    assert judged(ActivationGrowth(), layers(5, 50, 500, 5000, 1.0, function="LayerNorm")) == []


def test_what_gives_zeros_alone_is_no_layer_of_the_row():
    assert judged(ActivationGrowth(), layers(0, 5, 50, 500, 5000, 1.0))[0].place.module == "layers.4"
    assert judged(ActivationGrowth(), layers(0, 5, 5000, 1.0)) == []


def test_at_the_limits_of_growth_and_of_size_at_both_ends():
    grown, shrunk = (1, 8, 64, 512, 1.0), (1, 1 / 8, 1 / 64, 1 / 512, 1.0)
    for sizes, end in ((grown, 512.0), (shrunk, 1 / 512)):
        size, looks = max(end, 1 / end), [layers(*sizes, step=step) for step in (0, 32)]
        assert len(judged(ActivationGrowth(largest=size * 0.99), *looks)) == 1
        assert judged(ActivationGrowth(largest=size * 1.01), *looks) == []
        assert len(judged(ActivationGrowth(largest=100.0, per_layer=7.99), *looks)) == 1
        assert judged(ActivationGrowth(largest=100.0, per_layer=8.01), *looks) == []
