"""The table of the health snapshot."""

from __future__ import annotations

import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.errors import TraceError
from debugtracer.testing import AT, a_masked_row, a_trace, an_incident
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import to_plain
from debugtracer.trace.facts.health import Health, ParamDynamics
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.reader import open_trace
from debugtracer.views.layers import render_layers, sparkline, spoken
from tests.trace.facts.test_health import a_row


def snapshot(step, *tensors, params=()):
    fact = Health(ref=StepRef(iteration=step, step=step), tensors=tensors, params=params)
    return Observed(at=AT, word=fact.word(), fact=to_plain(fact))


def test_the_last_snapshot_is_a_table_by_role(tmp_path):
    update = ParamDynamics(
        name="fc.weight",
        numel=6,
        dtype="float32",
        optimizer="Adam",
        lr=0.1,
        weight_l2=2.0,
        update_l2=0.002,
        least_v=1e-9,
        under_eps=0.5,
        rms=1.2,
    )
    rows = (a_row("fc.weight", zero_share=0.25), a_row("relu", role="activation", dead_units=0.5, function="relu"))
    text = render_layers(
        open_trace(a_trace(tmp_path, snapshot(0, a_row("fc.weight")), snapshot(100, *rows, params=(update,))))
    )
    assert text.splitlines()[0] == "Health of step 100, rank 0; 2 snapshots are kept: steps 0, 100"
    assert "Weights\n" in text
    assert "fc.weight  2x3 float32     0    1   -1    1   2   25%" in text
    assert "update/weight 1.0e-03; least v 1e-09; sqrt(v) below eps 50%; RMS 1.2" in text
    assert "relu; dead units 50%" in text


def test_without_a_snapshot_it_is_one_sentence(tmp_path):
    run = a_trace(tmp_path)
    with pytest.raises(TraceError, match="no health snapshot was taken on rank 0"):
        render_layers(open_trace(run))


def test_small_things():
    assert sparkline(()) == ""
    assert len(sparkline((0,) * 20 + (5,) * 22)) == 14
    assert spoken(list(range(20))) == "0, 1, 2, 3, 4, 5, 6, ... 19"
    assert spoken([7]) == "7"


def test_a_tensor_without_a_finite_value_has_no_statistics(tmp_path):
    row = a_row(
        "fc.weight", role="gradient", bad=6, sampled=6, mean=0.0, std=0.0, low=0.0, high=0.0, l2="NaN", zero_share=0.0
    )
    text = render_layers(open_trace(a_trace(tmp_path, snapshot(0, row))))
    assert "fc.weight  2x3 float32     -    -    -    -  nan     -" in text


def test_rows_that_are_missing_are_explained(tmp_path):
    facts = a_masked_row()
    text = render_layers(
        open_trace(a_trace(tmp_path / "a", snapshot(48, a_row("fc.weight")), an_incident(facts, rank(facts))))
    )
    assert "No gradients: no parameter held one at the alarm;" in text
    assert "No activations: they are read on inspected steps only" in text and "--inspect-steps 1" in text
    assert "No activations: no leaf module ran inside a watched model" in render_layers(
        open_trace(a_trace(tmp_path / "b", snapshot(0, a_row("fc.weight"))))
    )
