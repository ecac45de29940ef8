"""What guessing costs, where it is known."""

from __future__ import annotations

import math

from debugtracer.spikes.chance import chance
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.wiring import OptimizerWiring, Wiring
from debugtracer.trace.window import Window
from tests.spikes.series import ref


def call(loss: str = "cross_entropy", value: float = 2.3, **more: object) -> LossCall:
    return LossCall(ref=ref(0), loss=loss, frame=None, value=value, **{"classes": 10, **more})  # type: ignore[arg-type]


def window(*facts: Fact, losses: tuple[float, ...] = (2.3, 2.2)) -> Window:
    kinds: dict[type[Fact], list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(type(fact), []).append(fact)
    return Window(ref(len(losses) - 1), {"loss": losses}, frozenset({"loss"}), facts=kinds)


def test_one_cross_entropy_that_is_the_whole_loss_has_a_chance_level():
    known = chance(window(call()))
    assert known is not None
    assert known.level == math.log(10)
    binary = chance(window(call("binary_cross_entropy_with_logits", classes=None)))
    assert binary is not None
    assert binary.classes == 2


def test_anything_else_has_none():
    two = Wiring(
        ref=ref(0),
        params=(),
        optimizers=tuple(OptimizerWiring(kind="Adam", frame=None, held=1, strangers=0) for _ in range(2)),
    )
    for facts in (
        (),
        (call("mse_loss", classes=None),),
        (call(), call("nll_loss")),
        (call(value=4.6),),
        (call(weighted=True),),
        (call(reduction="sum"),),
        (call(), two),
    ):
        assert chance(window(*facts)) is None
