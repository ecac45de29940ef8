"""Deduplicates facts: a new one is written to events.jsonl, a repeated one is not, one that keeps changing ever less
often."""

from __future__ import annotations

from collections.abc import Sequence
from time import time as wall_time
from typing import TypeVar

import msgspec

from debugtracer.recorder.output.output import Output
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import Fact, to_plain
from debugtracer.trace.facts.health import Health
from debugtracer.trace.facts.layer_norms import LayerNorms

F = TypeVar("F", bound=Fact)

# facts of one key that are all written; then 16 for each doubling, so that a run of a million steps stays readable
# (ours)
FIRST = 32


class FactDeduplicator:
    """One per process. Facts come without a rank and leave with the one of this process."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.known: dict[tuple[type[Fact], object], tuple[Fact, int]] = {}
        """The last fact of each key, and how many were new."""

    def keep(self, facts: Sequence[Fact]) -> list[Fact]:
        """Write the new facts; return all facts with their rank, without the norms that nobody judges."""
        for norms in (fact for fact in facts if isinstance(fact, LayerNorms)):
            self.output.norms(norms)
        rank = self.output.rank
        own = [
            f if f.ref.rank == rank else msgspec.structs.replace(f, ref=msgspec.structs.replace(f.ref, rank=rank))
            for f in facts
            if not isinstance(f, LayerNorms)
        ]
        for fact in own:
            key = (type(fact), fact.key())
            same, count = self.known.get(key, (None, 0))
            if same is not None and msgspec.structs.replace(fact, ref=same.ref) == same:
                continue
            self.known[key] = fact, count + 1
            if isinstance(fact, Health):
                self.output.snapshot(fact)
            if not thinned(count):
                at, trace_id = wall_time(), self.output.trace_id(fact.ref.iteration)
                self.output.event(Observed(at=at, rank=rank, trace_id=trace_id, word=fact.word(), fact=to_plain(fact)))
        return own

    def last(self, kind: type[F]) -> F | None:
        """The latest fact of a kind."""
        found = [fact for (of, _), (fact, _) in self.known.items() if of is kind]
        return max(found, key=lambda fact: fact.ref.iteration, default=None)  # type: ignore[return-value]

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
        self.known.clear()


def thinned(count: int) -> bool:
    """True if the `count`-th new fact of one key is not written."""
    return count >= FIRST and count % (1 << (count // 16).bit_length() - 1) != 0
