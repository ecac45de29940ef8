"""Spikes of the loss that come back."""

from __future__ import annotations

import random

import pytest

from debugtracer.checks.optimizer.loss_spike import LossSpike
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.same_values import SameValues
from debugtracer.trace.facts.stored_rows import FarValue, StoredLeaf, StoredRows
from debugtracer.trace.facts.went_back import WentBack
from debugtracer.trace.facts.wiring import Wiring
from tests.spikes.series import falling, findings, loud, ref
from tests.trace.facts.test_lost_values import lost


def with_spike(*heights: float, at: int = 200, count: int = 300) -> list[float]:
    losses = falling(count)
    for step, height in enumerate(heights, start=at):
        losses[step] *= height
    return losses


def test_fires_on_a_batch_of_other_data_and_blames_it():
    note, warning = findings(LossSpike(), with_spike(5.0, 5.0))
    assert (note.severity, note.step, note.kind) == ("note", 200, "loss_spike")
    assert (warning.severity, warning.iteration, warning.kind, warning.confidence) == (
        "warning",
        200,
        "data_hard_samples",
        0.7,
    )
    assert warning.message.startswith("step 200, rank 0: the loss was 5.")
    assert warning.message.endswith(
        "for 2 steps and back from one step to the next, so the weights were sound and the batches are to blame; "
        "expected at most 8 MAD. "
        "Look at the samples of steps 200 to 201."
    )


def test_a_layer_that_was_given_zeros_alone_by_right_makes_it_a_note():
    left_out = lost(ref=ref(200), by_right=True)
    *_, settled = findings(LossSpike(), with_spike(5.0), [left_out])
    assert settled.severity == "note"
    assert settled.message.endswith("Look at step 200 first: the input of upper was 0 everywhere.")
    assert loud(findings(LossSpike(), with_spike(5.0), [lost(ref=ref(200))]))


def test_a_spike_that_a_roll_back_of_ours_ended_blames_no_batch():
    back = WentBack(ref=ref(202), to_step=190)
    (warning,) = loud(findings(LossSpike(), with_spike(5.0, 5.0), [back]))
    assert warning.kind == "loss_spike"
    assert "back after the state of step 190 was put back; expected" in warning.message


def test_one_batch_for_all_steps_is_not_to_blame_for_one_of_them():
    whole = SameValues(ref=ref(2), looks=3)
    assert [one.severity for one in findings(LossSpike(), with_spike(5.0, 5.0), [whole])] == ["note"]
    other = SameValues(ref=ref(50), looks=9, same=False)
    (warning,) = loud(findings(LossSpike(), with_spike(5.0, 5.0), [whole, other]))
    assert warning.kind == "data_hard_samples"


def test_a_spike_that_heals_slowly_blames_no_batch():
    (warning,) = loud(findings(LossSpike(), with_spike(*(1 + 4 * 0.8**i for i in range(40)))))
    assert warning.kind == "loss_spike"
    assert "healed slowly; expected" in warning.message
    assert warning.message.endswith("Look at the learning rate and the update before it.")


def test_a_learning_rate_that_had_just_risen_is_named():
    lr = [1e-3] * 199 + [3e-2] * 101
    (warning,) = loud(findings(LossSpike(), with_spike(*(1 + 4 * 0.8**i for i in range(40))), lr=lr))
    assert warning.kind == "lr_too_high"
    assert "after the learning rate had risen 30-fold" in warning.message


def test_a_weak_spike_of_one_step_is_chance_and_of_several_one_note():
    assert not findings(LossSpike(), with_spike(1.2))
    (note,) = findings(LossSpike(), with_spike(1.2, 1.2))
    assert (note.severity, note.step) == ("note", 200)
    assert "for 2 steps" in note.message


def test_at_the_threshold_it_can_be_moved():
    assert findings(LossSpike(), with_spike(1.2, 1.2))
    assert not findings(LossSpike(z_max=20.0), with_spike(1.2, 1.2))


@pytest.mark.parametrize("seed", range(3))
def test_stays_silent_on_a_healthy_loss(seed):
    assert not findings(LossSpike(), falling(800, seed=seed))


def test_stays_silent_on_the_first_64_losses():
    assert not findings(LossSpike(), with_spike(9.0, at=40, count=110))


def test_a_policy_loss_around_zero_has_no_warning():
    chance = random.Random(6)
    losses = [chance.gauss(-0.5, 0.1) for _ in range(400)]
    losses[300] = 0.2
    assert not loud(findings(LossSpike(), losses))


def test_a_step_change_is_not_its_business():
    losses = [v * (4.0 if step >= 200 else 1.0) for step, v in enumerate(falling(300))]
    assert [f.severity for f in findings(LossSpike(), losses)] == ["note"]


def test_the_rule_of_the_articles_can_be_asked_for():
    losses = with_spike(1.25)
    assert not loud(findings(LossSpike(), losses))
    assert (
        "standard deviations above the mean of the last 100; expected at most 3."
        in loud(findings(LossSpike(sigma_max=3.0), losses))[-1].message
    )


def test_a_jump_is_nothing_where_the_target_moves_unless_the_gradient_explodes():
    follower = Wiring(ref=ref(0), params=(), optimizers=(), follower=True)
    assert not findings(LossSpike(), with_spike(5.0, 5.0), [follower])
    exploded = [1.0] * 200 + [500.0] * 100
    assert loud(findings(LossSpike(), with_spike(5.0, 5.0), [follower], grad_l2=exploded))


@pytest.mark.parametrize(("height", "severity"), [(0.1, {"note"}), (0.6, {"note", "warning"})])
def test_one_hard_batch_of_a_hinge_that_is_met_is_no_news(height: float, severity: set[str]):
    made = random.Random(4)
    losses = [max(0.5 * 0.97**step - 1e-3, 0.0) + 1e-5 * (made.random() < 0.1) for step in range(750)]
    losses[700] = height
    found = findings(LossSpike(), losses)
    assert {f.severity for f in found} == severity


@pytest.mark.parametrize(("rows", "severities"), [(4, ["note"]), (32, ["warning"]), (64, ["warning"])])
def test_one_hard_row_of_a_small_batch_is_a_note_where_the_loss_is_met(rows: int, severities: list[str]):
    draw = random.Random(3)
    losses = [0.7 - 0.6 * min(step / 40, 1.0) for step in range(40)]
    losses += [1e-3 * (1 + 0.3 * draw.random()) for _ in range(200)]
    losses[150] = 2.5
    call = LossCall(ref=ref(0), loss="cross_entropy", input_shape=(rows, 2), target_shape=(rows,), classes=2)
    settled = [one for one in findings(LossSpike(), losses, [call]) if "back from" in one.message]
    assert [one.severity for one in settled] == severities


@pytest.mark.parametrize(
    ("end", "heights", "severities"),
    [
        (0.06, [0.14], ["note"]),  # nearly met: 5 % of what was gained, for one step
        (0.06, [0.14, 0.14], ["warning"]),
        (0.06, [0.5], ["warning"]),
        (0.3, [0.5], ["warning"]),
    ],
)
def test_a_bump_of_one_step_is_a_note_where_the_loss_is_nearly_met(
    end: float, heights: list[float], severities: list[str]
) -> None:
    draw = random.Random(5)
    losses = [max(1.5 * 0.97**step, end) * (1 + 0.02 * draw.gauss(0, 1)) for step in range(320)]
    losses[260 : 260 + len(heights)] = heights
    settled = [one for one in findings(LossSpike(), losses) if "back from" in one.message]
    assert [one.severity for one in settled] == severities


def stored(**change):
    far = FarValue(value=-9999.0, rows=(197, 220), count=2, column=3, low=0.1, high=0.4)
    leaf = StoredLeaf(path="input", name="heat", whole=False, far=(far,), made=(Frame("/p/read.py", 12),))
    known = {"length": 320, "rows": 16, "looks": 3, "in_order": True, "same": False, "begins": 32, "period": 20}
    return StoredRows(ref=ref(2), leaves=(leaf,), **{**known, **change})


def test_the_stored_rows_of_a_spike_that_hold_a_far_value_are_named_where_the_passes_are_in_order():
    (warning,) = loud(findings(LossSpike(), with_spike(5.0, 5.0, at=212), [stored()]))
    assert "Look at the samples of steps 212 to 213 (rows 197, 220 of heat: -9999)." in warning.message
    assert (warning.place.frame, warning.place.sample_index) == (Frame("/p/read.py", 12), (197, 220))


@pytest.mark.parametrize("change", [{"period": 0}, {"begins": 48}], ids=["drawn", "one of two steps has no such row"])
def test_other_rows_of_a_spike_are_not_named(change):
    (warning,) = loud(findings(LossSpike(), with_spike(5.0, 5.0, at=212), [stored(**change)]))
    assert warning.message.endswith("Look at the samples of steps 212 to 213.")
    assert warning.place.sample_index is None
