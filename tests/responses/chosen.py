"""Loops for responses that are chosen for a cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from tests.responses.loops import Loop, given, sgd
from tests.watching import under_watch

BAD = 40


def exploding(after: int) -> list[Tensor]:
    """Batches of which one is bad, and those since lie far outside."""
    batches = given(BAD + 1 + after, (BAD,))
    return [batch * 1e4 if at > BAD else batch for at, batch in enumerate(batches)]


def go(out: Path, batches: list[Tensor], respond: str = "", make: Any = sgd) -> Loop:
    with under_watch(out, "prod", respond=respond, cost=1.0):
        loop = Loop(make)
        loop.go(batches)
    return loop


def largest(loop: Loop) -> float:
    return max(float(p.detach().abs().max()) for p in loop.model.parameters())
