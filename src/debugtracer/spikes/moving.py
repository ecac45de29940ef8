"""Does the loss chase a target that training itself moves? Then it may rise in health, and only a gradient that
explodes shows divergence."""

from __future__ import annotations

import math

from debugtracer.spikes.level import Level
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.number import as_float
from debugtracer.trace.window import Window

# times the largest level of the gradient norm in the older half of the run (ours: an opponent that wins makes it some
# times larger)
EXPLODED = 100.0
LEAST_BLOCKS = 4
PLAYERS = "several optimizers learn from different losses, each moving what the other sees"


def moving(window: Window) -> str:
    """Why the loss may rise by itself; empty for one objective on fixed targets."""
    wiring = window.last(Wiring)
    if wiring is not None and wiring.follower:
        return "its targets come from a copy of the model that moves (a target network, a slow encoder)"
    return PLAYERS if players(window) else ""


def players(window: Window) -> bool:
    """True for two optimizers whose updates come from different backward calls; Muon beside AdamW share them all."""
    if window.last(TurnsTaken) is not None:
        return True
    lines = {order.optimizer: learnt(order) for order in window.seen(StepOrder)}
    return len({where for where in lines.values() if where}) > 1


def goes_back(window: Window, before: float, now: float) -> bool:
    """Whether the rate of a step is that of an optimizer which stepped before the one whose rate came last: they take
    turns. For runs of which nothing but loss and rate is asked."""
    first: dict[int, int] = {}
    last: dict[int, float] = {}
    for fact in window.seen(Rate):
        first.setdefault(fact.optimizer, fact.ref.iteration)
        last[fact.optimizer] = as_float(fact.high)
    of = {rate: [n for n, known in last.items() if math.isclose(known, rate, rel_tol=1e-6)] for rate in (before, now)}
    return len(of[before]) == len(of[now]) == 1 and first[of[now][0]] < first[of[before][0]]


def learnt(order: StepOrder) -> frozenset[object]:
    """The lines of the backward calls whose gradients the update used: those after the last zero_grad."""
    words = order.pattern()
    begin = len(words) - 1 - words[::-1].index("zero_grad") if "zero_grad" in words else 0
    used = order.calls[begin:] if any(c.word == "backward" for c in order.calls[begin:]) else order.calls
    return frozenset(
        (c.frame.file, c.frame.line) for c in used if c.word == "backward" and c.live and c.frame is not None
    )


def exploded(gradient: Level) -> bool:
    """True if the gradient norm has risen by orders of magnitude and stays there."""
    levels = list(gradient.medians)
    return len(levels) >= LEAST_BLOCKS and gradient.now > EXPLODED * max(levels[: len(levels) // 2])
