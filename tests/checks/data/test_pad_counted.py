"""Padding that the loss counts."""

from __future__ import annotations

from debugtracer.checks.data.pad_counted import PadCounted
from debugtracer.trace.facts.padded_targets import PaddedTargets
from tests.checks.windows import LOADER, ref, told


def judged(share, times=1, **more):
    fact = PaddedTargets(
        ref=ref(), loss="cross_entropy", frame=LOADER, module=None, pad=0, share=share, rows=8,
        **{"known_by": "Embedding(padding_idx=0)", **more},
    )  # fmt: skip
    return list(PadCounted().judge(told(*[fact] * times)))


def test_most_targets_are_padding():
    (finding,) = judged(0.74, 2)
    assert (finding.severity, finding.kind, finding.place.frame) == ("warning", "label_mask_wrong", LOADER)
    assert finding.message == (
        "step 0, rank 0: 74 % of the targets of cross_entropy are the id 0 at the end of their rows, which "
        "Embedding(padding_idx=0) treats as padding; expected that the loss ignores them. Set ignore_index=0."
    )


def test_the_line_of_a_comparison_is_named():
    (finding,) = judged(0.5, known_by="a comparison", known_frame=LOADER)
    assert "which train.py:20 treats as padding" in finding.message


def test_at_the_threshold():
    assert judged(0.049) == []
    assert len(judged(0.05)) == 1


def test_an_ignored_id_that_no_target_is():
    (finding,) = judged(0.33, known_by="", ignores_none=1)
    assert "at the end of their rows, while ignore_index=1 leaves out nothing; expected" in finding.message


def test_the_end_of_the_texts_that_is_left_out_instead_and_the_line_of_the_criterion():
    (finding,) = judged(0.25, ignores_end=1, built=LOADER)
    assert "and ignore_index=1 leaves out the id that ends each text: the model never learns to stop" in finding.message
    assert finding.place.frame == LOADER
