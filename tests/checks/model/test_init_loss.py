"""Is the first loss what guessing would give?"""

from __future__ import annotations

import math

import msgspec
import pytest

from debugtracer.checks.model.init_loss import InitLoss, guessing, is_sum
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.loss_call import LossCall
from tests.checks.facts_at import judged, line, ref
from tests.checks.test_snapshots import a_snapshot, an_update
from tests.trace.facts.test_health import a_row


def call(value: float, step: int = 0, **fields: object) -> LossCall:
    return LossCall(ref=ref(step), loss="cross_entropy", frame=line(20), classes=10, counted=128, value=value, **fields)  # type: ignore[arg-type]


def test_a_sum_is_said_nothing_of_while_its_loss_does_not_rise():
    assert judged(InitLoss(), [call(294.9, reduction="sum")]) == []


def test_a_sum_whose_loss_rises_is_a_warning():
    losses = (294.9, *[300.0 + 40 * k for k in range(20)])
    (finding,) = judged(InitLoss(), [call(294.9, reduction="sum")], loss=losses)
    assert finding.severity == "warning" and finding.message == (
        "step 0, rank 0: the first cross_entropy is 294.9, 128 times log 10 = 2.303 for 128 targets: a sum, and it has "
        "risen since; expected about 2.303. Use the mean."
    )
    falling = (294.9, *[294.0 - 5 * k for k in range(20)])
    assert judged(InitLoss(), [call(294.9, reduction="sum")], loss=falling) == []


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


def test_a_sum_that_is_divided_afterwards_is_silent_also_where_it_rises():
    rising = (2.304, *[3.0 + 0.4 * k for k in range(20)])
    assert judged(InitLoss(), [call(294.9, reduction="sum")], loss=rising) == []


FAR_OFF = (43.9, *[43.0 - k for k in range(20)])


def wide(spread: float) -> Health:
    row = a_row("wte.weight", shape=(10, 64), l2=spread * 640**0.5)
    return a_snapshot(0, row, params=(an_update("wte.weight"),))


def test_a_first_loss_of_many_times_chance_that_stays_there_is_a_warning():
    first, later = judged(InitLoss(), [call(43.9), wide(1.0)], loss=FAR_OFF)
    assert (first.severity, later.severity, later.kind) == ("note", "warning", "bad_init")
    assert later.message == (
        "step 0, rank 0: the first cross_entropy is 43.9, 19.1 times log 10 = 2.303, and after 20 updates it is still "
        "29.5; wte.weight alone makes logits of a standard deviation of 8; expected about 2.303. Look at what scales "
        "the logits, and make the initial weights of the last layer small."
    )
    assert (later.place.param, later.place.frame) == ("wte.weight", line(20))


def test_logits_that_something_else_scales_name_no_matrix():
    assert judged(InitLoss(), [call(43.9), wide(0.02)], loss=FAR_OFF)[-1].place.param is None


def test_a_loss_that_comes_down_and_a_small_term_stay_a_note():
    down = (43.9, *[40.0 / (k + 1) for k in range(20)])
    assert [f.severity for f in judged(InitLoss(), [call(43.9)], loss=down)] == ["note"]
    beside = (4.0, *[40.0] * 20)
    assert [f.severity for f in judged(InitLoss(), [call(43.9)], loss=beside)] == ["note"]
    assert [f.severity for f in judged(InitLoss(), [call(22.9)], loss=FAR_OFF)] == ["note"]  # below ten times


def test_a_sum_is_one_over_several_targets():
    assert is_sum(call(1.0, reduction="sum"))
    one = msgspec.structs.replace(call(1.0, reduction="sum"), counted=1)
    assert not is_sum(one)
    assert not is_sum(msgspec.structs.replace(one, counted=2, reduction="mean"))
    assert is_sum(msgspec.structs.replace(one, counted=2))


def test_what_guessing_costs_is_known_of_two_losses_alone():
    assert guessing(call(1.0)) == math.log(10)
    assert guessing(msgspec.structs.replace(call(1.0), classes=2)) == math.log(2)
    assert guessing(msgspec.structs.replace(call(1.0), classes=1)) is None
    assert guessing(msgspec.structs.replace(call(1.0), classes=None)) is None
    assert guessing(msgspec.structs.replace(call(1.0), loss="binary_cross_entropy_with_logits")) == math.log(2)
    assert guessing(msgspec.structs.replace(call(1.0), loss="mse_loss")) is None


@pytest.mark.parametrize(
    ("first", "later", "is_told"),
    [
        (100.0, 151.0, True),
        (100.0, 150.0, False),  # half as much again is the least
        (101.0, 152.0, True),  # what was computed is the loss, but for a hundredth
        (101.5, 160.0, False),
        (99.0, 150.0, True),
        (98.5, 150.0, False),
    ],
)
def test_a_sum_is_followed_where_it_is_the_loss_and_rises_by_half(first, later, is_told):
    found = judged(InitLoss(), [call(100.0, reduction="sum")], loss=(first, *[later] * 20))
    assert [f.severity for f in found] == ["warning"] * is_told


def test_the_last_ten_of_twenty_losses_are_looked_at():
    late = (100.0, *[100.0] * 9, *[160.0] * 11)
    assert judged(InitLoss(), [call(100.0, reduction="sum")], loss=late)
    half = (100.0, *[100.0] * 14, *[160.0] * 6)
    assert not judged(InitLoss(), [call(100.0, reduction="sum")], loss=half)


@pytest.mark.parametrize(
    ("value", "first", "later", "is_told"),
    [
        (30.0, 30.0, 7.0, True),
        (30.0, 30.0, 6.9, False),  # three times chance, 6.908, is near it
        (23.1, 23.1, 20.0, True),
        (23.0, 23.0, 20.0, False),  # ten times chance is 23.03
        (30.0, 12.0, 20.0, True),
        (30.0, 11.9, 20.0, False),  # below 0.4 of it is one of several terms
    ],
)
def test_a_first_loss_is_far_off_from_each_limit_on(value, first, later, is_told):
    found = judged(InitLoss(), [call(value)], loss=(first, *[later] * 20))
    assert [f.severity for f in found] == ["note", *["warning"] * is_told]


@pytest.mark.parametrize(("spread", "named"), [(0.51, True), (0.49, False)])
def test_weights_of_the_head_are_wide_from_a_deviation_of_four_on(spread, named):
    found = judged(InitLoss(), [call(43.9), wide(spread)], loss=FAR_OFF)
    assert ("wte.weight alone" in found[-1].message) is named


def test_a_matrix_of_another_width_is_no_head():
    row = a_row("emb.weight", shape=(11, 64), l2=1.0 * 704**0.5)
    snapshot = a_snapshot(0, row, params=(an_update("emb.weight"),))
    assert judged(InitLoss(), [call(43.9), snapshot], loss=FAR_OFF)[-1].place.param is None
