"""Losses that stay where guessing is."""

from __future__ import annotations

import math
import random

import pytest

from debugtracer.checks.optimizer.loss_plateau import LossPlateau
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.loss_call import LossCall
from tests.spikes.series import falling, findings, ref


def call(first: float, step: int = 0, **more: object) -> LossCall:
    return LossCall(ref=ref(step), **{"loss": "cross_entropy", "frame": None, "value": first, "classes": 10, **more})  # type: ignore[arg-type]


def loader(length: int) -> LoaderSeen:
    """Batches of 100."""
    return LoaderSeen(
        ref=ref(0), loader=0, frame=None, dataset="Table", length=length, batch_size=100, workers=0,
        sampler="RandomSampler", trains=True, shards=False, shuffles=True, generator=False, worker_init=False,
        persistent=False, cores=2,
    )  # fmt: skip


def guessing(count: int = 400) -> list[float]:
    chance = random.Random(8)
    return [math.log(10) + 0.02 * chance.gauss(0, 1) for _ in range(count)]


def test_fires_on_a_classifier_that_guesses_after_ten_epochs():
    losses = guessing()
    (found,) = findings(LossPlateau(), losses, [call(losses[0]), loader(2_000)])
    assert (found.severity, found.step, found.symptom) == ("warning", 207, "no_learning")
    assert found.message.endswith("expected well below chance, log 10 = 2.303. Overfit one batch.")


def test_a_hard_task_that_has_not_begun_is_a_note():
    losses = guessing()
    assert [f.severity for f in findings(LossPlateau(), losses, [call(losses[0]), loader(6_000)])] == ["note"]


def test_where_an_epoch_is_not_known_a_thousand_steps_are_waited_for():
    losses = guessing(1100)
    assert [(f.severity, f.step) for f in findings(LossPlateau(), losses, [call(losses[s], s) for s in (0, 900)])] == [
        ("note", 207),
        ("warning", 1007),
    ]


def test_a_noisy_task_that_has_converged_is_a_note():
    losses = falling(800, start=2.3, end=1.6, noise=0.01)
    assert [f.severity for f in findings(LossPlateau(), losses, [call(losses[0]), loader(2_000)])] == ["note"]


def test_stays_silent_while_the_loss_falls_and_when_it_is_low():
    for losses in ([2.3 - 0.002 * step for step in range(500)], falling(800, start=2.3, end=0.3)):
        assert not findings(LossPlateau(), losses, [call(losses[0])])


def test_stays_silent_where_chance_is_not_known():
    losses = guessing()
    assert not findings(LossPlateau(), losses)
    assert not findings(LossPlateau(), losses, [call(losses[0], loss="mse_loss", classes=None)])
    assert not findings(LossPlateau(), losses, [call(4 * losses[0])])


def test_an_epoch_longer_than_200_steps_is_waited_for():
    losses = guessing()
    assert findings(LossPlateau(), losses, [call(losses[0]), loader(35_000)])[0].step == 351


def test_of_two_classes_a_loss_below_chance_may_be_what_their_shares_allow():
    rare = [0.5 + 0.01 * random.Random(step).gauss(0, 1) for step in range(300)]
    more = {"loss": "binary_cross_entropy_with_logits", "classes": None}
    assert not findings(LossPlateau(), rare, [call(rare[0], **more), loader(6_000)])
    stuck = [math.log(2) + 0.001 * random.Random(step).gauss(0, 1) for step in range(400)]
    told = findings(LossPlateau(), stuck, [call(stuck[0], **more), loader(2_000)])
    assert [f.severity for f in told] == ["warning"]


@pytest.mark.parametrize(
    ("more", "count"),
    [
        ({"input_shape": (10, 10)}, 0),
        ({"input_shape": (64, 10), "prior_entropy": 0.0}, 0),
        ({"input_shape": (64, 10), "prior_entropy": 2.2}, 1),
        ({"input_shape": (64, 10)}, 1),
    ],
    ids=["its own row", "the first of all", "classes", "unknown"],
)
def test_a_contrastive_loss_stays_high_when_all_is_learnt(more, count):
    losses = falling(800, start=2.3, end=1.6, noise=0.01)
    assert len(findings(LossPlateau(), losses, [call(losses[0], counted=64, **more), loader(2_000)])) == count
