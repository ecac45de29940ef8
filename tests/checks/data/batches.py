"""Windows and facts about batches for the tests of this room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.batch_content import BatchChange, BatchOddity, BatchProfile, LeafProfile, LoaderNote
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import ENDED, LOSS, Window

LOADER = LoaderNote(
    number=0,
    dataset="Corpus",
    batches=100,
    batch_size=16,
    sampler="SequentialSampler",
    frame=Frame("/p/train.py", 50),
    made_at=Frame("/p/train.py", 32),
)


def at(step: int) -> StepRef:
    return StepRef(iteration=step, step=step)


def an_oddity(what: str, step: int = 8, **more: Any) -> BatchOddity:
    known: dict[str, Any] = {"loader": LOADER, "batch": step, "path": "batch[0]", "training": True, "looked": step}
    return BatchOddity(ref=at(step), what=what, **{**known, **more})


def a_change(what: str, before: str, after: str, batches: int = 30, step: int = 30, **more: Any) -> BatchChange:
    known: dict[str, Any] = {"loader": LOADER, "rows": 16}
    return BatchChange(
        ref=at(step),
        batch=step,
        path="batch[1]",
        what=what,
        before=before,
        after=after,
        batches=batches,
        **{**known, **more},
    )


def a_profile(*leaves: LeafProfile, seen: int = 100, **more: Any) -> BatchProfile:
    known: dict[str, Any] = {"loader": LOADER, "training": True, "first_layer": "Conv2d", "rows": 16}
    return BatchProfile(ref=at(seen - 1), seen=seen, looked=seen, leaves=leaves, **{**known, **more})


def a_window(
    *facts: Fact, step: int | None = None, memories: dict[str, dict[Any, Any]] | None = None, ended: bool = False
) -> Window:
    """All facts are fresh."""
    kinds: dict[type[Fact], list[Fact]] = {}
    for fact in facts:
        kinds.setdefault(type(fact), []).append(fact)
    came = {kind: len(some) for kind, some in kinds.items()}
    ref = at(step if step is not None else facts[-1].ref.step if facts else 0)
    flags = frozenset({ENDED}) if ended else frozenset()
    return Window(ref, facts=kinds, came=came, flags=flags, memories={} if memories is None else memories)


def judged(check: Any, steps: Sequence[Sequence[Fact]], losses: Sequence[float] = (), start: int = 0) -> list[Any]:
    """What a check says of windows in order, with their losses, and at the end."""
    memories: dict[str, dict[Any, Any]] = {}
    found, series = [], []
    for n, facts in enumerate(steps):
        window = a_window(*facts, step=start + n, memories=memories)
        if n < len(losses):
            series.append(losses[n])
            window = Window(
                window.ref,
                {LOSS: tuple(series)},
                frozenset({LOSS}),
                facts=window.facts,
                came=window.came,
                memories=memories,
            )
        found += list(check.judge(window))
    if check.at_end:
        found += list(check.judge(a_window(step=start + len(steps), memories=memories, ended=True)))
    return found
