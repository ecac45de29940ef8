"""Findings about the loss that become notes."""

from __future__ import annotations

from debugtracer.spikes.quieter import elsewhere, quieter, untried
from debugtracer.trace.finding import UNTRIED, Finding

FOUND = Finding(
    check="optimizer/loss-divergence",
    layer="optimizer",
    severity="warning",
    rank=0,
    step=3,
    iteration=3,
    message="the loss left 1 for 9. Go back to a checkpoint",
    evidence={"loss": 9.0},
)


def test_a_search_for_the_rate_is_told_behind_it() -> None:
    assert quieter(FOUND, 0) is FOUND
    told = quieter(FOUND, 200.0)
    assert told.severity == "note"
    assert told.message.endswith("a search for a rate ends so. Nothing if it is one.")


def test_another_dataset_takes_the_place_of_the_advice() -> None:
    told = elsewhere(FOUND)
    assert told.severity == "note"
    assert told.message.startswith("the loss left 1 for 9. Another dataset")
    assert "checkpoint" not in told.message


def test_what_waits_for_a_trial_and_what_could_not_be_tried() -> None:
    waits, refused = untried(FOUND, ""), untried(FOUND, "no time is left")
    assert (waits.evidence[UNTRIED], waits.evidence["loss"]) == (1.0, 9.0)
    assert UNTRIED not in refused.evidence
    assert refused.message.endswith("the weights of before on the same batches (no time is left).")
