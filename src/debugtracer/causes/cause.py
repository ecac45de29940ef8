"""The contract of a cause: what speaks for and against it in the facts of an incident, and what to do about it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal

from debugtracer.causes.reading import Reading
from debugtracer.plugins import members, slug_of
from debugtracer.trace.finding import Layer

Edit = Literal["operator", "optimizer", "data"]


@dataclass(frozen=True)
class Signs:
    """What the facts say about one cause."""

    confidence: float
    """0..1; from 0.7 on it is likely, from 0.4 on possible."""
    because: str
    """One clause with the numbers seen: `every score of the row is -inf, so softmax divides 0 by 0`."""
    remedies: tuple[str, ...]
    """What to do, best first, one line each."""
    against: tuple[str, ...] = ()
    """What speaks against it."""
    exact: bool = False
    """An invariant was broken: nothing else can explain it, no trial is needed."""
    whole_batch: bool = False
    """Every row of the batch is guilty, not a few."""


@dataclass(frozen=True)
class Cause:
    """Base of all causes. A rule must be true of PyTorch, never of one script; its slug is its file name."""

    kind: ClassVar[str]
    """Class of the verdict: the word of the taxonomy (written as `class`)."""
    layer: ClassVar[Layer] = "numerics"
    edit: ClassVar[Edit] = "operator"
    """Whose line a person edits: the operator's, the optimizer's constructor, or where the data is made."""

    fallback: ClassVar[bool] = False
    """True if it only names the arithmetic; never shown beside a cause that knows why."""
    proved_by: ClassVar[tuple[str, ...]] = ()
    """Interventions (slugs) that heal the step if this is the cause, the narrowest first: `stable-op`, `without-sample`."""
    refuted_by: ClassVar[tuple[str, ...]] = ()
    """Interventions that must not heal it; one that does speaks against this cause."""
    supports: ClassVar[tuple[str, ...]] = ()
    """Checks (`layer/slug`) whose loud finding speaks for it."""
    contradicts: ClassVar[tuple[str, ...]] = ()
    """Checks whose loud finding speaks against it."""

    def signs(self, seen: Reading) -> Signs | None:
        """What the facts say; None if this is not the cause. Pure: no IO, no torch, no host sync."""
        raise NotImplementedError

    @property
    def slug(self) -> str:
        """The file name with dashes."""
        return slug_of(type(self).__module__, "debugtracer.causes")


@functools.cache
def causes() -> dict[str, Cause]:
    """Every cause by slug. The folder is the registry."""
    import debugtracer.causes

    return members(debugtracer.causes, Cause)
