"""Compares the numbers that two objects of one class give the same keys, as the data sets of training and evaluation
do."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

from debugtracer.callsites.key_numbers import FEWEST, key_numbers
from debugtracer.callsites.stored_entries import Held, is_own, reachable
from debugtracer.callsites.word_tables import made_at
from debugtracer.errors import guarded
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.parted_maps import PartedMaps

LOOKS = (2, 4)  # inspected steps at which the program is searched (ours): what is made late is there by then
SPARE = 2  # rows that a model may have beyond its keys (ours)
MOST_ALIKE = 4  # objects of one class (ours): of more, as of graphs, each may well have numbers of its own
SHARED = 0.8  # of the keys of the smaller one (ours): a target language shares few words with the source
DIFFER = 0.3  # of those that both have (ours)


class PartedMapsObserver(Observer):
    """Reads dicts, lists and tables of the program in two inspected steps; no tensor but the sizes of weights."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks = 0
        self.told: set[tuple[str, str]] = set()

    def reset(self) -> None:
        self.looks = 0
        self.told.clear()

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Search what the functions on the stack can reach."""
        self.looks += 1
        if self.looks in LOOKS:
            for one, other in alike(reachable()):
                self.compare(one, other)
        if self.looks >= LOOKS[-1]:
            self.run.unsubscribe(self.backward_begins)

    def compare(self, one: Held, other: Held) -> None:
        """Emit the numberings of two objects that part, where the model is as large as the larger of the two alone."""
        inside, beside = vars(one.value), vars(other.value)
        for name in [name for name in inside if name in beside and inside[name] is not beside[name]]:
            first, second = key_numbers(inside[name]), key_numbers(beside[name])
            if first is None or second is None or not self.is_of_model(len(first), len(second)):
                continue
            shared = [key for key in first if key in second]
            differ = [key for key in shared if first[key] != second[key]]
            where = (type(one.value).__name__, name)
            if where in self.told or not parts(len(shared), len(differ), min(len(first), len(second))):
                continue
            self.told.add(where)
            self.tell(one, other, name, first, second, shared, differ)

    def tell(
        self,
        one: Held,
        other: Held,
        name: str,
        first: Mapping[Any, int],
        second: Mapping[Any, int],
        shared: list[Any],
        differ: list[Any],
    ) -> None:
        """Emit a pair in the order in which its lines stand."""
        lines = [guarded("parted_maps.made")(made_at)(held) for held in (one, other)]
        if lines[0] is not None and lines[1] is not None and lines[0].line > lines[1].line:
            lines, first, second = lines[::-1], second, first
        self.run.emit(
            PartedMaps(
                ref=self.run.ref(), owner=type(one.value).__name__, name=name, sizes=(len(first), len(second)),
                shared=len(shared), differ=len(differ), key_shown=str(differ[0])[:40],
                numbers=(first[differ[0]], second[differ[0]]), frame=lines[1], first_frame=lines[0],
            )
        )  # fmt: skip

    def is_of_model(self, one: int, other: int) -> bool:
        """Whether the larger count is a size of the weights, and the smaller, if it is another, is none."""
        sizes = {n for root in self.run.modules() for p in root.parameters() if p.dim() > 1 for n in p.shape}
        larger, smaller = max(one, other), min(one, other)
        fits = [any(count + more in sizes for more in range(SPARE + 1)) for count in (larger, smaller)]
        return fits[0] and (larger == smaller or not fits[1])


def alike(every: list[Held]) -> Iterator[tuple[Held, Held]]:
    """Yield each two objects of one class of the program, of which there are few."""
    kinds: dict[type, dict[int, Held]] = {}
    for held in every:
        if is_own(held.value):
            kinds.setdefault(type(held.value), {}).setdefault(id(held.value), held)
    for found in kinds.values():
        if len(found) <= MOST_ALIKE:
            yield from itertools.combinations(found.values(), 2)


def parts(shared: int, differ: int, smaller: int) -> bool:
    """Whether two numberings are of the same keys, and say different things of them."""
    return shared >= max(FEWEST, SHARED * smaller) and differ >= DIFFER * shared
