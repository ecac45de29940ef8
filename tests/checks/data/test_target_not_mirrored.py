"""What is said of pictures that were mirrored alone."""

from __future__ import annotations

from debugtracer.checks.data.target_not_mirrored import TargetNotMirrored
from debugtracer.trace.birth import Frame
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window
from tests.trace.facts.test_mirrored_input import mirrored


def found(**more: object) -> list[Finding]:
    fact = mirrored(**more)
    return list(TargetNotMirrored().judge(Window(fact.ref, facts={type(fact): [fact]}, came={type(fact): 1})))


def test_says_what_was_mirrored_and_what_was_not():
    (finding,) = found(target_frame=Frame("/x/train.py", 35, "__getitem__", ""))
    assert "batch[0] (train.py:37) comes mirrored left to right for samples 3, 18, 41, 60 while" in finding.message
    assert "batch[1] (train.py:35), as high and wide, is the same bit for bit (of 11 samples" in finding.message
    assert (finding.severity, finding.kind) == ("warning", "targets_misaligned")
    assert finding.place.frame == mirrored().frame


def test_boxes_and_a_picture_whose_line_is_unknown():
    loader = Frame("/x/train.py", 60, "<module>", "")
    (finding,) = found(what="box", frame=None, loader_frame=loader)
    assert "the corners of boxes" in finding.message
    assert finding.place.frame == loader


def test_a_target_with_a_draw_of_its_own_is_told_at_its_line():
    line = Frame("/x/train.py", 38, "__getitem__", "")
    (finding,) = found(target_frame=line, target_how="left to right", first=("", "left to right"))
    assert "batch[0] (train.py:37) and batch[1] (train.py:38), as high and wide, are turned separately" in (
        finding.message
    )
    assert "sample 3 with batch[0] as it was and batch[1] mirrored left to right" in finding.message
    assert finding.place.frame == line


def test_a_turn_of_the_picture_alone_is_told_at_its_line():
    target = Frame("/x/train.py", 38, "__getitem__", "")
    (finding,) = found(target_frame=target, target_how="left to right", first=("upside down", ""), only="picture")
    assert finding.message.endswith("expected the same turn for both. Apply the turn of train.py:37 to both.")
    assert finding.place.frame == mirrored().frame
    (finding,) = found(target_frame=target, target_how="left to right", only="target")
    assert "Apply the turn of train.py:38 to both." in finding.message
    assert finding.place.frame == target


def test_stays_silent_without_a_fact():
    assert not list(TargetNotMirrored().judge(Window(mirrored().ref)))
