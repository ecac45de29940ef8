"""The shape of a loader's batches, learnt as they come: which dimensions vary, and the first batch that breaks what all
before it had in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from debugtracer.recorder.state.leaves import Leaf
from debugtracer.recorder.state.sizes import sizes

LEARNT = 5  # batches before a change is worth a word (docs/rationale/checks.md#data_dtype_drift)
VARIES = -1


class SchemaChange(NamedTuple):
    """One tensor is not what it was in all batches before."""

    path: str
    what: str
    """dtype, device, layout, rank, or the number of a dimension."""
    before: str
    after: str
    batches: int
    """How many batches had been as before."""


@dataclass
class KnownSchema:
    """One tensor so far."""

    path: str
    dtype: str
    device: str
    layout: str
    shape: tuple[int, ...]
    batches: int = 0


@dataclass
class Schemas:
    """One per loader; batches with other paths (multi-task loaders) are learnt apart."""

    known: dict[tuple[str, ...], list[KnownSchema]] = field(default_factory=dict)

    def push(self, leaves: list[Leaf]) -> tuple[list[KnownSchema] | None, list[SchemaChange]]:
        """The schema if these paths are new, and what has changed since the last batch of these paths. Microseconds."""
        now = [KnownSchema(path, str(t.dtype)[6:], t.device.type, str(t.layout)[6:], sizes(t)) for path, t in leaves]
        paths = tuple(one.path for one in now)
        old = self.known.get(paths)
        if old is None:
            self.known[paths] = now
            return now, []
        changes: list[SchemaChange] = []
        for was, new in zip(old, now, strict=True):
            changes += changed(was, new)
        return None, changes


def changed(was: KnownSchema, new: KnownSchema) -> list[SchemaChange]:
    """What differs; `was` learns it, so that each change is returned once."""
    found: list[SchemaChange] = []
    was.batches += 1
    for what in ("dtype", "device", "layout"):
        if getattr(was, what) != getattr(new, what):
            found.append(SchemaChange(was.path, what, getattr(was, what), getattr(new, what), was.batches))
            setattr(was, what, getattr(new, what))
    if len(was.shape) != len(new.shape):
        found.append(SchemaChange(was.path, "rank", shown(was.shape), shown(new.shape), was.batches))
        was.shape = new.shape
    elif was.shape != new.shape:
        merged = list(was.shape)
        for place, (a, b) in enumerate(zip(was.shape, new.shape, strict=True)):
            if a not in (b, VARIES):
                if place > 0:  # the first dimension is the rows
                    found.append(SchemaChange(was.path, str(place), shown(was.shape), shown(new.shape), was.batches))
                merged[place] = VARIES
        was.shape = tuple(merged)
    told = found if was.batches >= LEARNT else []
    if found:
        was.batches = 0
    return told


def shown(shape: tuple[int, ...]) -> str:
    """A shape for a reader: (*, 3, 32)."""
    inner = ", ".join("*" if place == 0 or size == VARIES else str(size) for place, size in enumerate(shape))
    return f"({inner}{',' if len(shape) == 1 else ''})"
