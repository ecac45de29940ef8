"""The contract of an intervention: one thing changed while the failing step is executed again."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar, Literal

from debugtracer.errors import ReplayRefused, UsageError
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun
from debugtracer.plugins import members, slug_of

Scope = Literal[
    "nothing", "op", "sample", "batch", "precision", "update", "state", "random", "rank", "structure", "loop"
]
NARROW: tuple[Scope, ...] = (
    "nothing",
    "op",
    "precision",
    "sample",
    "batch",
    "random",
    "update",
    "state",
    "structure",
    "rank",
    "loop",
)
"""Narrowest first; the narrowest that heals names the cause (docs/rationale/inference.md#specificity)."""

NEEDS_LIVE = "it needs the live step; a capsule holds the operators of one step and none of the user's code"


@dataclass(frozen=True)
class Intervention:
    """Base of all interventions; its slug is its file name. The user's objects are as before when the run is over."""

    value: float | None = None
    """Size of the change; None takes the default."""

    scope: ClassVar[Scope]
    default: ClassVar[float | None] = None
    """Value when none is given; None: it needs none."""
    unit: ClassVar[str] = ""
    """What the value is: `factor on the learning rate`; empty: it takes none."""
    ladder: ClassVar[tuple[float, ...]] = ()
    """Further values tried when the default does not heal, in order."""
    cost: ClassVar[float] = 1.0
    """Steps' worth of time, about."""
    by_training: ClassVar[bool] = False
    """What it does shows in some dozen steps of training alone, and in no single step."""

    def refuses(self, rerun: Rerun) -> str:
        """Why it cannot be tried on this step, one clause; empty when it can. Pure."""
        return ""

    def apply(self, rerun: Rerun) -> str:
        """Ask for the change; the answer says in words with numbers what it is: `clamp_min(1e-06) at model.py:88`.
        Raises ReplayRefused."""
        raise NotImplementedError

    def offline(self, tape: OfflineRerun) -> str:
        """Ask for the change of a recorded step (`debug-tracer replay INCIDENT --with`), in the words of `apply`.
        Raises ReplayRefused with why it cannot."""
        raise ReplayRefused(NEEDS_LIVE)

    @property
    def size(self) -> float:
        """The value in force."""
        return float(self.value if self.value is not None else self.default or 0.0)

    @property
    def slug(self) -> str:
        """The file name with dashes."""
        return slug_of(type(self).__module__, "debugtracer.interventions")

    @property
    def name(self) -> str:
        """The slug, with `=VALUE` where it takes one."""
        return self.slug if self.default is None and self.value is None else f"{self.slug}={self.size:g}"


@functools.cache
def interventions() -> dict[str, Intervention]:
    """Every intervention by slug, with its default value. The folder is the registry."""
    import debugtracer.interventions

    return members(debugtracer.interventions, Intervention)


def asked(word: str) -> Intervention:
    """Parse `larger-eps=1e-6` into an intervention. Raises UsageError naming what is known."""
    slug, equals, number = word.partition("=")
    known = interventions().get(slug.replace("_", "-"))
    if known is None:
        raise UsageError(f"--with {word}: no intervention is called {slug}; known are {', '.join(interventions())}")
    if not equals:
        return known
    if not known.unit:
        raise UsageError(f"--with {word}: {slug} takes no value")
    try:
        return type(known)(float(number))
    except ValueError:
        raise UsageError(
            f"--with {word}: {number!r} is no number; expected {known.unit}, such as {known.default or 0:g}"
        ) from None
