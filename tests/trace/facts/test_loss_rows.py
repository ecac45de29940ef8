"""Losses of rows as a value."""

from __future__ import annotations

from debugtracer.trace.facts.fact import from_plain, to_plain
from debugtracer.trace.facts.loss_rows import LossRows, RowLoss
from debugtracer.trace.step import StepRef


def test_it_survives_its_file():
    fact = LossRows(
        ref=StepRef(iteration=3, step=3),
        loss="NllLossBackward0",
        value=3.0,
        usual=1.0,
        rows=16,
        median=3.1,
        mad=0.2,
        raised=0.9,
        top_share=0.1,
        top=(RowLoss(row=2, sample=None, loss=4.0),),
    )
    assert from_plain(fact.word(), to_plain(fact)) == fact
    assert fact.key() == 3
