"""Windows that hold given facts and series."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, Window

LOADER = Frame("/home/someone/train.py", 20, "main", "loader = DataLoader(data)")


def ref(step: int = 0, rank: int = 0) -> StepRef:
    """A place of a loop with one backward a step."""
    return StepRef(iteration=step, step=step, rank=rank)


def told(
    *facts: Fact, step: int = 0, rank: int = 0, ended: bool = False, memories: dict | None = None, **series: list[float]
) -> Window:
    """All of these facts came with this step; the last value of each series belongs to it."""
    kinds: dict[type[Fact], list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(type(fact), []).append(fact)
    came = {kind: len(known) for kind, known in kinds.items()}
    flags = frozenset({ENDED}) if ended else frozenset()
    return Window(
        ref(step, rank), series, frozenset(series), flags, (), kinds, came, {} if memories is None else memories
    )
