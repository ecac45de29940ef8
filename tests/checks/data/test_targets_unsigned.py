"""Targets of 0 where a loss asks for -1."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.targets_unsigned import TargetsUnsigned
from debugtracer.trace.facts.signed_target import SignedTarget
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, Window


def judged(others, negative=0, loss="cosine_embedding_loss", ended=False):
    facts = tuple(
        SignedTarget(
            ref=StepRef(iteration=n, step=n), loss=loss, number=n, total=100, other=other, negative=negative,
            low=-1.0 if negative else 0.0, high=1.0, frame=None,
        )
        for n, other in enumerate(others)
    )  # fmt: skip
    flags = frozenset({ENDED} if ended else ())
    return list(TargetsUnsigned().judge(Window(ref=facts[-1].ref, facts={SignedTarget: facts}, flags=flags)))


def test_it_fires_on_zeros():
    (finding,) = judged([40, 60, 50])
    assert (finding.severity, finding.kind, finding.exact) == ("error", "label_out_of_range", True)
    assert "150 of 300 targets" in finding.message
    assert "each of these adds nothing to this loss" in finding.message


def test_zeros_of_a_ranking_may_be_ties():
    (finding,) = judged([40, 60, 50], loss="margin_ranking_loss")
    assert (finding.severity, finding.exact) == ("warning", False)


@pytest.mark.parametrize(("others", "negative"), [([40, 60], 0), ([40, 60, 50], 1), ([0, 0, 0], 0)])
def test_it_stays_silent(others, negative):
    assert judged(others, negative) == []


def test_at_the_thresholds():
    assert len(judged([5, 5, 5])) == 1
    assert judged([5, 5, 4]) == []
    assert len(judged([50], ended=True)) == 1
