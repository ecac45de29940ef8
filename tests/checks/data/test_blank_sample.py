"""Samples without content."""

from __future__ import annotations

from debugtracer.checks.data.blank_sample import BlankSample
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.refetched import Refetched
from tests.checks.data.batches import a_window, an_oddity, at


def test_a_black_picture_is_a_note_and_the_transform_that_made_it_is_named():
    again = Refetched(
        ref=at(33),
        loader=0,
        index=541,
        what="blank",
        again=True,
        origin="operation",
        transform="Crop",
        frame=Frame("/p/train.py", 13),
    )
    (finding,) = BlankSample().judge(
        a_window(again, an_oddity("blank", 33, rows=(13,), samples=(541,), count=1, of=16))
    )
    assert finding.message == (
        "step 33, rank 0: 1 of 16 rows of batch[0] of batch 33 of Corpus (train.py:50) is 0 everywhere (sample 541), "
        "first after Crop; expected something "
        "to learn from. Look at the file of the sample."
    )
    assert (finding.severity, finding.place.frame) == ("note", Frame("/p/train.py", 13))


def test_a_picture_that_ends_half_way_is_a_note():
    (finding,) = BlankSample().judge(a_window(an_oddity("cut", 26, value=0.5, count=1, of=16, samples=(417,))))
    assert finding.message == (
        "step 26, rank 0: 1 of 16 rows of batch[0] of batch 26 of Corpus (train.py:50) holds one value in the lowest "
        "50% of its lines (sample 417); expected a whole picture. Look at the file of the sample."
    )


def test_a_text_that_could_not_be_decoded_is_a_note():
    (finding,) = BlankSample().judge(a_window(an_oddity("unreadable", value=0.4, count=2, of=16, samples=(3, 9))))
    assert "holds 40 % U+FFFD (samples 3, 9)" in finding.message


def test_other_oddities_are_not_its_business():
    assert not list(BlankSample().judge(a_window(an_oddity("constant"))))
