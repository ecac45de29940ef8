"""Keys with two numbers."""

from __future__ import annotations

from debugtracer.checks.data.numbered_apart import NumberedApart
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.parted_maps import PartedMaps
from debugtracer.trace.finding import Finding
from tests.trace.facts.test_parted_maps import parted


def judged(*facts: PartedMaps) -> list[Finding]:
    check = NumberedApart()
    judge = Judge({check.slug: check})
    return [finding for fact in facts for finding in judge.judge(fact.ref, {}, [fact])]


def test_it_is_told_once_for_each_class_and_name() -> None:
    found = judged(parted(1), parted(100), parted(100, owner="Tags", frame=Frame("/p/main.py", 30)))
    assert [finding.step for finding in found] == [1, 100]
    assert found[0].message == (
        "step 1, rank 0: Ratings (main.py:9) numbers the 44 keys of item_ids in its own way: 41 of the 44 that it "
        "shares with the Ratings made before (main.py:8) have another number there (i17 is 3, and 40 here), and the "
        "model has weights for 60; expected one numbering for both. Give it that of the other."
    )
    assert found[0].place.frame is not None
    assert (found[0].severity, found[0].kind, found[0].place.frame.line) == ("warning", "tokenizer_mismatch", 9)
