"""Inputs that come with another target each time."""

from __future__ import annotations

from debugtracer.checks.data.pairs_moved import PairsMoved
from debugtracer.trace.facts.moved_pairs import MovedPairs
from tests.checks.facts_at import judged, line, ref


def fact(**other):
    given = {
        "data": "TensorDataset", "moved": "inputs", "rows": 512, "changed": 381, "known": 512, "first": 0,
        "drawn": False, "frame": line(41), "loader_frame": line(30),
    }  # fmt: skip
    return MovedPairs(ref=ref(24), **(given | other))


def test_inputs_that_moved_are_told_at_the_line_that_moves_them():
    (finding,) = judged(PairsMoved(), [fact()])
    assert (finding.severity, finding.kind) == ("warning", "data_pairs_broken")
    assert (finding.place.frame, finding.place.symptom_frame) == (line(41), line(30))
    assert finding.message == (
        "step 24, rank 0: 512 inputs of TensorDataset (train.py:30) came again, and 381 of them have another target "
        "than before, one that another input had; the targets stand where they stood, the inputs do not (train.py:41); "
        "expected each input with its target. Shuffle both by one order."
    )


def test_a_row_that_is_drawn_is_told_so():
    (finding,) = judged(PairsMoved(), [fact(drawn=True, known=500)])
    assert "most of them one that another input had; a row is drawn at random where its index is" in finding.message
    assert finding.message.endswith("Take both at the index that is asked for.")


def test_without_a_line_the_loader_is_named():
    (finding,) = judged(PairsMoved(), [fact(frame=None, moved="both")])
    assert finding.place.frame == line(30)
