"""What is said of a table of names that an evaluation makes for itself."""

from __future__ import annotations

from debugtracer.checks.data.names_renumbered import NamesRenumbered
from tests.checks.optimizer.seen import found
from tests.trace.facts.test_other_numbers import MADE, renumbered


def test_the_first_name_and_the_line_of_the_dataset_are_told() -> None:
    (finding,) = found(NamesRenumbered(), [renumbered()])
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "tokenizer_mismatch", MADE)
    assert finding.message == (
        "step 0, rank 0: `vocab.stoi` of Reviews (data.py:73) gives 213 of 214 names another id than training ('the' "
        "is 7, in training 4); expected one table. Build it from the training part and hand it to the others."
    )


def test_stays_silent_without_a_fact() -> None:
    assert not found(NamesRenumbered(), [])
