"""The memory of the process over the steps, as lines of the timeline."""

from __future__ import annotations

from typing import Any

from debugtracer.trace.events import Observed
from debugtracer.trace.facts.memory import Memory
from debugtracer.trace.store.reader import Trace

NAMES = ("resident", "allocated", "reserved")  # fields of the fact, bytes
MOST = 1500  # points of a line; of more every so many, and the greatest


def memory_lines(trace: Trace, rank: int) -> list[dict[str, Any]]:
    """The bytes that were measured now and then; a line for each kind that the machine tells."""
    word = Memory.word()
    taken = [event.fact for event in trace.events(rank) if isinstance(event, Observed) and event.word == word]
    found = []
    for name in NAMES:
        points = {step_of(fact): fact[name] for fact in taken if isinstance(fact.get(name), int) and fact[name]}
        if points:
            steps = thinned(points)
            found.append({"name": name, "x": steps, "y": [points[step] for step in steps]})
    return found


def step_of(fact: dict[str, Any]) -> int:
    """The step after whose update it was measured."""
    return int(fact.get("ref", {}).get("step", 0))


def thinned(points: dict[int, int]) -> list[int]:
    """Choose steps, ascending: evenly where there are many, with the last and the one that held most."""
    steps = sorted(points)
    chosen = {*steps[:: -(-len(steps) // MOST)], steps[-1], max(steps, key=points.__getitem__)}
    return sorted(chosen)
