"""Padding that is predicted."""

from __future__ import annotations

import pytest

from debugtracer.checks.data.pad_in_loss import PadInLoss
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.data.batches import a_window, an_oddity, at


def a_call(**more):
    known = {
        "loss": "cross_entropy",
        "classes": 50,
        "counted": 16 * 22,
        "frame": Frame("/p/train.py", 41),
        "ignore_index": -100,
    }
    return LossCall(ref=at(0), **{**known, **more})


def pads(**more):
    known = {"value": 0.41, "path": "batch['labels']", "of": 16 * 23, "rows": tuple(range(16))}
    return an_oddity("pad-labels", 0, **{**known, **more})


def test_padding_that_counts_in_the_loss_is_loud_at_the_loss():
    (finding,) = PadInLoss().judge(a_window(pads(), a_call()))
    assert finding.message == (
        "step 0, rank 0: 41 % of batch['labels'] of batch 0 of Corpus (train.py:50) is padding by its mask, and "
        "cross_entropy ignores none of it; "
        "expected -100 there. Set labels[attention_mask == 0] = -100."
    )
    assert (finding.severity, finding.kind, finding.place.frame) == (
        "warning",
        "label_mask_wrong",
        Frame("/p/train.py", 41),
    )


@pytest.mark.parametrize(
    "call",
    [
        a_call(ignored=0.4, counted=200),
        a_call(reduction="none"),
        a_call(counted=120),
        a_call(loss="mse_loss", classes=None),
    ],
    ids=["ignored", "masked afterwards", "selected before", "regression"],
)
def test_what_is_masked_elsewhere_is_silent(call):
    assert not list(PadInLoss().judge(a_window(pads(), call)))


def test_without_a_loss_call_nothing_is_said():
    assert not list(PadInLoss().judge(a_window(pads())))


def test_it_is_said_once():
    memories = {}
    assert list(PadInLoss().judge(a_window(pads(), a_call(), memories=memories)))
    assert not list(PadInLoss().judge(a_window(pads(), a_call(), memories=memories)))
