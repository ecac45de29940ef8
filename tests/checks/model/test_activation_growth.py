"""Activations through the depth of the model."""

from __future__ import annotations

from debugtracer.checks.model.activation_growth import ActivationGrowth
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


def test_shrinking_is_told_too():
    assert "shrink 10 times a layer" in judged(ActivationGrowth(), layers(0.1, 0.01, 0.001, 0.0001, 1.0))[0].message


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
        size = max(end, 1 / end)
        assert len(judged(ActivationGrowth(largest=size * 0.99), layers(*sizes))) == 1
        assert judged(ActivationGrowth(largest=size * 1.01), layers(*sizes)) == []
        assert len(judged(ActivationGrowth(largest=100.0, per_layer=7.99), layers(*sizes))) == 1
        assert judged(ActivationGrowth(largest=100.0, per_layer=8.01), layers(*sizes)) == []
