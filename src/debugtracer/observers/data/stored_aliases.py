"""Looks into the lists of a program where the rows of its batch repeat: do their entries hold one array that is written
to, or two of their columns the same rows?"""

from __future__ import annotations

import hashlib
import weakref
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.equal_columns import equal_columns, lent, written_together
from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.stored_entries import Held, Repeated, added_at, keeper_of, memory_of, reachable, repeated
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.stored_alias import StoredAlias

FEWEST = 8  # rows of a batch (ours)
ROWS, COLUMNS = 512, 4096  # of a batch that are compared (ours)
MOST_LOOKS = 8  # batches whose lists are looked into (ours)
MOST_BYTES = 1 << 20  # of an array that is compared with itself later (ours)
NEARLY = 0.75  # of the rows of two batches are equal (ours): the first of an episode may have been copied


class StoredAliasesObserver(Observer):
    """Compares the rows of a batch in inspected steps; looks into lists where half of them repeat. Keeps no array
    alive."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks = 0
        self.given: list[WeakRef[Tensor]] = []
        """Batches of this step."""
        self.told: set[str] = set()
        self.digests: dict[int, tuple[weakref.ref[Any], bytes]] = {}
        """Where the values lie of an array that many entries hold -> it and its values at the first look."""

    def reset(self) -> None:
        self.looks, self.given = 0, []
        self.told.clear()
        self.digests.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the batch that a model is given, where no loader handed it out."""
        given = next(iter(args), None)
        if isinstance(given, (tuple, list)):  # a state and an action as one argument
            given = next(iter(given), None)
        if (
            not isinstance(given, Tensor)
            or self.looks >= MOST_LOOKS
            or given.is_nested
            or given.layout is not torch.strided
        ):
            return
        if given.dim() < 2 or len(given) < FEWEST:
            return
        if not given.is_floating_point() or given.requires_grad or self.run.batches.find(given) is not None:
            return
        trained = torch.is_grad_enabled()
        with torch.no_grad():
            rows = given[:ROWS].flatten(1)[:, :COLUMNS]
            twice = any(is_copy(given, other) for one in self.given if (other := one()) is not None)
            self.given = [*self.given[-3:], WeakRef(given)]
            if rows.shape[1] < 2 or not (twice or trained):
                return
            distinct = len(torch.unique(rows, dim=0))
        if twice or distinct <= len(rows) / 2:
            self.looks += 1
            self.look(type(module).__name__, rows, distinct, twice)

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Forget the batches of the step."""
        if self.given:
            self.given = []

    def look(self, root: str, rows: Tensor, distinct: int, twice: bool) -> None:
        """Emit a container whose last entries hold one array of the size of a row, and that is written to."""
        every = reachable()
        for one in repeated(every):
            size = one.array.numel() if isinstance(one.array, Tensor) else one.array.size
            if one.held.where() in self.told or size > rows[0].numel():
                continue
            keeper, added, changed = keeper_of(one.array, every), added_at(one.held), self.changed(one)
            if not changed and (keeper is None or added is None):
                continue
            self.told.add(one.held.where())
            self.looks = MOST_LOOKS  # a list that was drawn from this one says the same again
            self.run.emit(
                StoredAlias(
                    ref=self.run.ref(), container=one.held.where(), places=one.places, entries=one.entries,
                    held_by=keeper[0].where() if keeper else "", changed=changed, root=root, rows=len(rows),
                    distinct=distinct, twice=twice, frame=added, write_frame=keeper[1] if keeper else None,
                    called=first(raw_frames(1)),
                )
            )  # fmt: skip
            return
        if twice:
            self.look_at_columns(root, rows, distinct, every)

    def look_at_columns(self, root: str, rows: Tensor, distinct: int, every: list[Held]) -> None:
        """Emit a store with two columns that are equal everywhere, where one array was given for both: a name still
        holds it, or one method writes two arguments into them."""
        size = rows[0].numel()
        for one in equal_columns(every, size):
            by = lent(every, size)
            added = written_together(one)
            if one.store in self.told or (by is None and (added is None or one.unequal)):
                continue
            self.told.add(one.store)
            self.run.emit(
                StoredAlias(
                    ref=self.run.ref(), container=one.store, columns=one.names, entries=one.rows,
                    held_by=by[0].where() if by else "", write_frame=by[1] if by else None,
                    returned=by[2] if by else None, root=root, rows=len(rows), distinct=distinct, twice=True,
                    unequal=one.unequal,
                    frame=added, called=first(raw_frames(2)),
                )
            )  # fmt: skip
            return

    def changed(self, one: Repeated) -> bool:
        """Whether an array has other values than at the look before."""
        key = memory_of(one.array)[0]
        known = self.digests.get(key)
        now = values_of(one.array)
        if now is None:
            return False
        if known is not None and known[0]() is not None:  # it lives, so this is its memory still
            return known[1] != now
        self.digests[key] = weakref.ref(one.array), now
        return False


def values_of(array: Any) -> bytes | None:
    """A digest of the values of an array; None where it is too large to be read for this."""
    plain = array.numpy() if isinstance(array, Tensor) else array
    return hashlib.blake2b(plain.tobytes(), digest_size=16).digest() if plain.nbytes <= MOST_BYTES else None


def is_copy(given: Tensor, other: Tensor) -> bool:
    """Whether nearly all rows of two batches have the same values, in other memory."""
    if given.shape != other.shape or given.data_ptr() == other.data_ptr() or given.device != other.device:
        return False
    one, two = (rows[:ROWS].flatten(1)[:, :COLUMNS] for rows in (given, other))
    return bool((one == two).all(1).float().mean() >= NEARLY)
