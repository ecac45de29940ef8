"""Gains of layers, read from a snapshot of the first step."""

from __future__ import annotations

import pytest

from debugtracer.checks.layer_gain import layers_of
from debugtracer.trace.facts.health import Health
from debugtracer.trace.step import StepRef
from tests.checks.test_snapshots import an_activation, an_update
from tests.trace.facts.test_health import a_row


def test_a_layer_has_the_size_of_its_outputs_and_the_gain_of_its_weights():
    rows = (
        an_activation("a", "Linear", std=3.0),
        an_activation("act", "ReLU"),
        a_row("a.weight", shape=(32, 64), std=0.5, low=-2.0, high=2.0),
    )
    fact = Health(
        ref=StepRef(iteration=0, step=0),
        tensors=rows,
        params=(an_update("a.weight", numel=2048, weight_l2=0.5 * 2048**0.5),),
    )
    (layer,) = layers_of(fact)
    assert (layer.name, layer.std, layer.gain, layer.fresh) == ("a", 3.0, pytest.approx(4.0), True)


def test_a_weight_with_far_outliers_was_trained():
    rows = (an_activation("a", "Linear", std=3.0), a_row("a.weight", shape=(32, 64), std=0.5, low=-2.0, high=5.0))
    fact = Health(ref=StepRef(iteration=0, step=0), tensors=rows, params=(an_update("a.weight", numel=2048),))
    assert not layers_of(fact)[0].fresh
