"""Masks of attention that are the wrong way round."""

from __future__ import annotations

from debugtracer.checks.model.padding_attended import PaddingAttended
from debugtracer.trace.facts.attended_padding import AttendedPadding
from debugtracer.trace.window import Window
from tests.checks.windows import LOADER, ref


def judged(looks, value=0):
    facts = tuple(
        AttendedPadding(
            ref=ref(step), function="multi_head_attention_forward", kept=0.25, value=value, shut=9, frame=LOADER
        )
        for step in range(looks)
    )
    window = Window(ref=ref(3), facts={AttendedPadding: facts}, came={AttendedPadding: looks})
    return list(PaddingAttended().judge(window))


def test_it_fires_at_the_second_look_and_once():
    assert judged(1) == []
    (finding,) = judged(4)
    assert (finding.severity, finding.kind) == ("error", "input_ignored")
    assert (
        "lets in 25 % of the positions, at which only id 0 stands, and shuts out all others (9 ids)" in finding.message
    )
    assert "in key_padding_mask True means: ignore" in finding.message


def test_vectors_have_no_id():
    assert "one and the same vector stands" in judged(2, value=None)[0].message
