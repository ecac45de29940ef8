"""Is the first loss what guessing would give?"""

from __future__ import annotations

import math

import pytest

from debugtracer.checks.model.init_loss import InitLoss
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.window import Window
from tests.checks.facts_at import judged, line, ref


def call(value: float, step: int = 0, **fields: object) -> LossCall:
    return LossCall(ref=ref(step), loss="cross_entropy", frame=line(20), classes=10, counted=128, value=value, **fields)  # type: ignore[arg-type]


def test_a_sum_is_a_note_that_says_so():
    (finding,) = judged(InitLoss(), [call(294.9, reduction="sum")])
    assert finding.message == (
        "step 0, rank 0: the first cross_entropy is 294.9, 128 times log 10 = 2.303 for 128 targets: a sum; expected "
        "about 2.303. Use the mean."
    )
    assert finding.severity == "note"


def test_a_sum_whose_loss_rises_is_a_warning():
    losses = (294.9, *[300.0 + 40 * k for k in range(20)])
    assert [f.severity for f in judged(InitLoss(), [call(294.9, reduction="sum")], loss=losses)] == ["note", "warning"]
    falling = (294.9, *[294.0 - 5 * k for k in range(20)])
    assert [f.severity for f in judged(InitLoss(), [call(294.9, reduction="sum")], loss=falling)] == ["note"]


@pytest.mark.parametrize(
    "one",
    [
        call(2.5),
        call(0.1),
        call(30.0, step=4),
        call(30.0, weighted=True),
        call(30.0, label_smoothing=0.1),
        call(math.log(10) * 2.9),
    ],
)
def test_chance_pretrained_later_weighted_and_smoothed_losses_are_silent(one):
    assert not judged(InitLoss(), [one])


def test_large_logits_are_told_as_an_initialisation():
    assert judged(InitLoss(), [call(30.0)])[0].kind == "bad_init"


def test_a_sum_that_is_divided_afterwards_is_silent():
    summed = call(294.9, reduction="sum")
    windows = [
        Window(
            summed.ref,
            series={"loss": (loss,)},
            fresh=frozenset({"loss"}),
            facts={LossCall: [summed]},
            came={LossCall: 1},
        )
        for loss in (2.304, 150.0)
    ]
    # half of it is another term, not a mean
    assert [len(list(InitLoss().judge(window))) for window in windows] == [0, 1]
