"""What is said of names that are numbered anew after their rows were loaded."""

from __future__ import annotations

from debugtracer.checks.data.embedding_renumbered import EmbeddingRenumbered
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_carried_names import LOADED, MADE, carried


def test_the_line_of_the_table_and_that_of_the_load_are_told() -> None:
    (finding,) = found(EmbeddingRenumbered(), [carried()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "tokenizer_mismatch", MADE)
    assert (finding.place.symptom_frame, finding.place.param) == (LOADED, "tokens.weight")
    assert finding.message == (
        "step 400, rank 0: after tokens.weight (16 rows) was loaded (train.py:74), `vocab` (train.py:72) gives 11 of "
        "12 names another id than it was trained with ('N' is 2, then 6); expected the same table. Save it in the "
        "checkpoint and read it where the weights are loaded."
    )


def test_stays_silent_without_a_fact() -> None:
    assert not found(EmbeddingRenumbered(), [])
