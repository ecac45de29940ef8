"""The judge: the same answers live and offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from debugtracer.checks.check import Check, checks
from debugtracer.checks.optimizer.loss_spike import LossSpike
from debugtracer.diagnosis.judging.judge import MOST, REPEAT_STEPS, Judge
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.devices import Devices
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.memory import Memory
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import DEPTH, Window


class Seen(Fact, frozen=True, kw_only=True):
    KEEP = 3
    number: int


class LossJump(Check, frozen=True):
    needs: ClassVar[tuple[str, ...]] = ("loss",)
    slug: ClassVar[str] = "numerics/loss-jump"  # type: ignore[assignment]

    def judge(self, window: Window) -> Iterator[Finding]:
        now, before = window.now("loss"), window.before("loss")
        if now is not None and before and now > 2 * before[-1]:
            yield self.finding(window, "warning", "the loss has doubled", loss=now)


class Reader(Check, frozen=True):
    needs: ClassVar[tuple[type[Fact], ...]] = (Seen,)
    slug: ClassVar[str] = "data/reader"  # type: ignore[assignment]
    at_end: ClassVar[bool] = True

    def judge(self, window: Window) -> Iterator[Finding]:
        window.memory(self).setdefault("asked", []).append(
            ([f.number for f in window.new(Seen)], [f.number for f in window.seen(Seen)], window.ended)
        )
        return iter(())


class Setting(Check, frozen=True):
    needs: ClassVar[tuple[str, ...]] = ("loss",)
    slug: ClassVar[str] = "data/setting"  # type: ignore[assignment]
    called: Frame

    def judge(self, window: Window) -> Iterator[Finding]:
        yield self.finding(window, "warning", "kept", place=Place(frame=self.called, argument="drop_last"))


class Proof(Check, frozen=True):
    needs: ClassVar[tuple[str, ...]] = ("loss",)
    slug: ClassVar[str] = "model/proof"  # type: ignore[assignment]
    exact: ClassVar[bool] = True

    def judge(self, window: Window) -> Iterator[Finding]:
        yield self.finding(window, "error", "broken", place=Place(param="a" if window.ref.step % 2 else "b"))


def judged(check: Check, losses: list[float]) -> list[Finding]:
    judge = Judge({check.slug: check})
    return [
        f for step, loss in enumerate(losses) for f in judge.judge(StepRef(iteration=step, step=step), {"loss": loss})
    ]


def test_a_check_of_finite_numbers_speaks_at_its_step():
    assert [f.step for f in judged(LossJump(), [1.0, 1.1, 4.0, 4.0])] == [2]


def test_it_says_the_same_again_only_after_a_while():
    assert [f.step for f in judged(LossJump(), [1.0, 3.0] * (REPEAT_STEPS // 2 + 2))] == [1, 1 + REPEAT_STEPS]


def test_a_proof_is_said_once_for_each_place():
    assert [(f.step, f.place.param) for f in judged(Proof(), [1.0] * 3 * REPEAT_STEPS)] == [(0, "b"), (1, "a")]


def test_a_check_speaks_a_limited_number_of_times():
    assert len(judged(LossJump(), [1.0, 3.0] * (REPEAT_STEPS * MOST))) == MOST


def test_a_number_that_is_not_finite_is_left_to_the_alarm():
    assert judged(LossJump(), [1.0, float("inf")]) == []


def test_facts_are_new_once_and_the_last_ones_stay():
    reader = Reader()
    judge = Judge({reader.slug: reader})
    ref = StepRef(iteration=0, step=0)
    facts = [Seen(ref=ref, number=n) for n in range(5)]
    for values, some in (({}, facts[:1]), ({"loss": 1.0}, ()), ({}, facts[1:])):
        list(judge.judge(ref, values, some))
    list(judge.end(ref))
    assert judge.memories[reader.slug]["asked"] == [
        ([0], [0], False),
        ([2, 3, 4], [2, 3, 4], False),
        ([], [2, 3, 4], True),
    ]
    assert judge.asked == {"data/reader": 3}


def test_the_series_a_check_sees_is_bounded():
    judge = Judge({})
    for step in range(DEPTH + 9):
        list(judge.judge(StepRef(iteration=step, step=step), {"loss": float(step)}))
    assert len(judge.series["loss"]) == DEPTH


def test_a_check_that_fails_is_put_aside_with_its_error():
    class Broken(LossJump):
        def judge(self, window: Window) -> Iterator[Finding]:
            raise ValueError("no")

    check = Broken()
    judge = Judge({check.slug: check})
    ref = StepRef(iteration=0, step=0)
    with pytest.raises(ValueError, match="no"):
        list(judge.judge(ref, {"loss": 1.0}))
    assert list(judge.judge(ref, {"loss": 1.0})) == []
    assert judge.problems == {"numerics/loss-jump": "ValueError: no"}


def test_a_check_is_fed_by_its_facts_and_only_then_asked_at_the_end():
    judge = Judge({"data/reader": Reader(), "numerics/loss-jump": LossJump()})
    ref = StepRef(iteration=0, step=0)
    list(judge.judge(ref, {"loss": 1.0}))
    list(judge.end(ref))
    assert (judge.fed(), judge.asked) == (("numerics/loss-jump",), {"numerics/loss-jump": 1})
    list(judge.judge(ref, {}, [Seen(ref=ref, number=1)]))
    assert judge.fed() == ("data/reader", "numerics/loss-jump")


def test_a_series_that_is_too_short_for_a_check_is_known():
    judge = Judge({"optimizer/loss-spike": LossSpike()})
    assert judge.short() == {}
    for step in range(65):
        list(judge.judge(StepRef(iteration=step, step=step), {"loss": 1.0}))
        assert judge.short() == ({"optimizer/loss-spike": 65} if step < 64 else {})


class Two(Check, frozen=True):
    """Two findings without a place at each step, told apart by their words alone."""

    needs: ClassVar[tuple[str, ...]] = ("loss",)
    slug: ClassVar[str] = "optimizer/two"  # type: ignore[assignment]
    proof: bool = False

    def judge(self, window: Window) -> Iterator[Finding]:
        for name in ("0.weight", "2.weight"):
            found = self.finding(window, "warning", f"the loss of {name} is {window.now('loss')}")
            yield msgspec.structs.replace(found, exact=self.proof)


@pytest.mark.parametrize("proof", [False, True])
def test_two_findings_without_a_place_are_two_and_another_number_is_no_news(proof: bool):
    found = judged(Two(proof), [1.5, 2.5, 3e-07, 1_234.0, 4e16])
    assert [f.message.partition(": ")[2] for f in found] == [
        "the loss of 0.weight is 1.5",
        "the loss of 2.weight is 1.5",
    ]


def test_another_place_is_news_and_other_words_about_a_place_are_not():
    class Placed(Two, frozen=True):
        def judge(self, window: Window) -> Iterator[Finding]:
            for word, line in (("first", 3), ("second", 3), ("first", 4)):
                place = Place(frame=Frame("train.py", line))
                yield self.finding(window, "warning", f"{word} at {line}", place=place)

    assert [f.message.partition(": ")[2] for f in judged(Placed(), [1.0])] == ["first at 3", "first at 4"]


def test_what_a_run_does_not_have_is_the_reason_of_what_could_not_be_asked():
    judge = Judge(
        {slug: checks()[slug] for slug in ("optimizer/sched-order", "optimizer/no-update", "device/rank-skew")}
    )
    assert judge.unseen() == {
        "optimizer/sched-order": "a scheduler",
        "optimizer/no-update": "an optimizer",
        "device/rank-skew": "a DataLoader",
    }
    fact = StepOrder(ref=StepRef(iteration=0, step=0, phase="update"), optimizer=0, kind="SGD", number=0, calls=())
    list(judge.judge(fact.ref, {"loss": 1.0}, [fact]))
    assert sorted(judge.unseen()) == ["device/rank-skew", "optimizer/sched-order"]


def test_a_check_of_a_series_of_its_layer_is_asked_without_its_facts():
    judge = Judge({"optimizer/loss-spike": LossSpike()})
    list(judge.judge(StepRef(iteration=0, step=0, phase="loss"), {"loss": 1.0}))
    assert judge.unseen() == {}


def test_what_a_cpu_has_too_makes_no_accelerator():
    judge = Judge({slug: checks()[slug] for slug in ("device/host-sync", "device/device-mix", "device/memory-growth")})
    ref = StepRef(iteration=0, step=0, phase="update")
    memory = Memory(ref=ref, resident=1 << 20, allocated=None, reserved=None, total=None)
    list(judge.judge(ref, {"loss": 1.0}, [Devices(ref=ref, counts=(("cpu", 4),), few=("weight",)), memory]))
    assert judge.unseen() == {"device/host-sync": "an accelerator"}


def test_how_close_a_silent_check_came_is_known_from_its_own_numbers() -> None:
    judge = Judge()
    for step in range(60):
        values = {"loss": 2.0 - step / 60, "grad_l2": 3.0 if step == 40 else 1.0, "param_l2": 5.0}
        assert not [f for f in judge.judge(StepRef(iteration=step, step=step), values) if f.severity != "note"]
    near = judge.nearness()["optimizer/exploding-grad"]
    assert (near.step, near.value < near.limit) == (1, True) or near.step == 40
    assert 0 < near.share < 1


def test_a_finding_about_an_argument_stands_at_the_line_of_the_argument(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("loader = DataLoader(\n    data,\n    drop_last=False,\n)\n")
    check = Setting(called=Frame(str(file), 1))
    found = list(Judge({check.slug: check}).judge(StepRef(iteration=0, step=0), {"loss": 1.0}))
    assert [(one.place.frame.line, one.place.frame.code) for one in found if one.place.frame] == [
        (3, "drop_last=False,")
    ]
