"""Parameters that receive gradients and that no optimizer holds yet, in a program that builds another one later."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import msgspec
from torch import Tensor

from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.wiring import Wiring


class Unheld:
    """The fact that tells of them, and which of them wait still."""

    def __init__(self) -> None:
        self.fact: Wiring | None = None
        self.drawn = False
        self.known: set[int] = set()
        """Ids of all that the fact tells of."""
        self.left: dict[int, weakref.ref[Tensor]] = {}
        """Their places among its parameters."""

    def wait(self, fact: Wiring, lost: Sequence[Tensor], keys: Sequence[int], drawn: bool) -> None:
        """Keep the first fact, or a later one that tells more."""
        now = {id(p) for p in lost}
        if self.fact is not None and now <= self.known and (self.drawn or not drawn):
            return
        places = {key: place for place, key in enumerate(keys)}
        self.fact, self.drawn, self.known = fact, drawn, now
        self.left = {places[id(p)]: WeakRef(p) for p in lost}

    def let_go(self, held: ById[Tensor, bool]) -> None:
        """Drop those that an optimizer has held by now."""
        if self.left:
            self.left = {n: r for n, r in self.left.items() if (p := r()) is None or p not in held}

    def over(self) -> Wiring | None:
        """The fact of those that no optimizer ever held."""
        fact, self.fact = self.fact, None
        if fact is None or not self.left:
            return None
        params = tuple(
            msgspec.structs.replace(p, held=1) if place not in self.left and p.has_grad and not p.held else p
            for place, p in enumerate(fact.params)
        )
        return msgspec.structs.replace(fact, params=params, to_come=False)
