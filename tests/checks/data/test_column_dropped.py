"""What is said of a column that a trainer leaves out."""

from __future__ import annotations

from debugtracer.checks.data.column_dropped import ColumnDropped
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_dropped_column import dropped


def test_the_line_that_asks_is_named():
    fact = dropped()
    (finding,) = found(ColumnDropped(), [fact])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "input_ignored", fact.frame)
    assert finding.message == (
        "step 0, rank 0: compute_loss asks for 'weight' (train.py:48), which WeakLabels delivers and WeightedTrainer "
        "leaves out, as forward of Encoder has no such argument; expected that it comes. Pass "
        "TrainingArguments(remove_unused_columns=False)."
    )


def test_stays_silent_without_a_fact():
    assert not found(ColumnDropped(), [])
