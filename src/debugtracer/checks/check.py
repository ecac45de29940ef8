"""The contract of a check: one question put to a window, answered with findings."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, cast

import msgspec

from debugtracer.errors import UsageError
from debugtracer.plugins import members, slug_of
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding, Layer, Severity
from debugtracer.trace.nearness import Nearness, share_of
from debugtracer.trace.number import number
from debugtracer.trace.place import Place
from debugtracer.trace.step import StepRef
from debugtracer.trace.window import Window

ROOM = "debugtracer.checks"
CLOSEST = "closest"  # the notebook of all checks in which they keep how close they came
HEADINGS = ("What it catches", "Why it matters", "How it decides", "What to do", "Example")


class Check(msgspec.Struct, frozen=True):
    """Base of all checks. Options are fields with a unit and a source for each default; its slug and layer are its
    place in the folder."""

    needs: ClassVar[tuple[str | type[Fact], ...]] = ()
    """Series and kinds of facts the check reads; it is asked when one of them is fresh."""
    at_end: ClassVar[bool] = False
    """Asked once more when the run is over (`window.ended`)."""
    least_values: ClassVar[int] = 0
    """Values of the series it needs first before it can speak; a log with fewer is said to be too short for it."""
    kind: ClassVar[str | None] = None
    """The class of fault its findings diagnose (cases/README.md); None for a symptom that causes explain."""
    symptom: ClassVar[str] = "silent"
    """What a person notices: silent, no_learning, loss_spike, crash, none (slow)."""
    exact: ClassVar[bool] = False
    """It tests an exact invariant: a finding is a proof, no replay is needed."""
    confidence: ClassVar[float] = 0.6
    """Of the diagnosis when it is not exact, 0..1 (at 0.7 the report says `likely`)."""
    remedies: ClassVar[tuple[str, ...]] = ()
    """What to do, in order, as concrete changes."""
    family: ClassVar[str] = ""
    """What it looks at, where several checks see the same thing from different sides (`gradient`, `loss`): together
    they count as one piece of evidence for a cause. Empty: the family is its layer."""
    suspects: ClassVar[tuple[str, ...]] = ()
    """Slugs of causes, likeliest first."""
    fallback: ClassVar[bool] = False
    """It knows less than the others of the same symptom: asked when the run is over and none of them has spoken."""
    proved_by: ClassVar[str] = ""
    """The planted fault (folder below faults/) that fires it."""
    unproved: ClassVar[str] = ""
    """Why no planted fault fires it here; empty when one does."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield findings at `window.ref`. Pure but for `window.memory(self)`: no clock, IO, torch or host sync."""
        return iter(())

    def judge_ranks(self, windows: Mapping[int, Window]) -> Iterator[Finding]:
        """Yield findings that compare ranks; called once, by the supervisor, with the last window of each rank."""
        return iter(())

    def measured(self, window: Window, what: str, value: float, limit: float, *, below: bool = False) -> None:
        """Note what decides whether this check speaks, with the number from which it does: the closest one is shown,
        also where it stayed silent. A microsecond."""
        if not (math.isfinite(value) and math.isfinite(limit) and limit > 0):
            return
        closest: dict[str, Nearness] = window.memories.setdefault(CLOSEST, {})
        before = closest.get(self.slug)
        share = share_of(value, limit, below)
        if before is None or share > before.share:
            closest[self.slug] = Nearness(
                what=what, value=float(value), limit=float(limit), step=window.ref.step, below=below
            )

    @property
    def slug(self) -> str:
        """Return `layer/name`, derived from the file."""
        return slug_of(type(self).__module__, ROOM)

    @property
    def layer(self) -> Layer:
        """The layer: the folder that the file of the check is in."""
        return cast(Layer, self.slug.split("/")[0])

    def finding(
        self,
        window: Window,
        severity: Severity,
        message: str,
        *,
        ref: StepRef | None = None,
        place: Place | None = None,
        kind: str | None = None,
        confidence: float | None = None,
        remedies: tuple[str, ...] = (),
        exact: bool | None = None,
        **evidence: float,
    ) -> Finding:
        """A finding of this check at the window's place, or at `ref` when it began earlier; the place is put before the
        message.

        `kind`, `confidence`, `remedies` and `exact` replace those of the class where one check can tell several faults
        apart.
        """
        ref = window.ref if ref is None else ref
        return Finding(
            check=self.slug,
            layer=self.layer,
            severity=severity,
            iteration=ref.iteration,
            step=ref.step,
            rank=ref.rank,
            message=f"{ref}: {message}",
            evidence={name: number(value) for name, value in evidence.items()},
            kind=self.kind if kind is None else kind,
            symptom=self.symptom,
            exact=self.exact if exact is None else exact,
            confidence=self.confidence if confidence is None else confidence,
            place=place or Place(),
            remedy=remedies or self.remedies,
            suspects=tuple(slug.replace("-", "_") for slug in self.suspects),
        )


def family_of(finding: Finding) -> str:
    """The family of the check that made a finding; the finding's layer where the check names none, or is not known to
    this version."""
    check = checks().get(finding.check)
    return (check.family if check is not None else "") or finding.layer


@functools.cache
def checks() -> dict[str, Check]:
    """Every check with its default options, by slug. The folder is the registry."""
    import debugtracer.checks

    return members(debugtracer.checks, Check)


def nearest(slug: str, known: Iterable[str]) -> list[str]:
    """Return at most three names like this one: those that hold it, then those that are spelt alike."""
    word = slug.replace("_", "-").split("/")[-1]
    parts = {name.split("/")[-1]: name for name in known}
    alike = [*(part for part in parts if word in part), *difflib.get_close_matches(word, parts, 3, 0.3)]
    return [parts[part] for part in dict.fromkeys(alike)][:3] or sorted(parts.values())[:3]


def find_check(slug: str) -> Check:
    """The check of that slug; its last part is enough. Raises UsageError naming the nearest ones."""
    known = checks()
    hits = [name for name in known if slug.replace("_", "-") in (name, name.split("/")[-1])]
    if len(hits) != 1:
        raise UsageError(
            f"no check is called {slug!r}; nearest are {', '.join(nearest(slug, known))}; `debug-tracer checks` lists "
            f"all {len(known)}"
        )
    return known[hits[0]]


def page(check: Check) -> str:
    """The docstring of a check as text: its page in the catalogue."""
    return inspect.getdoc(type(check)) or ""
