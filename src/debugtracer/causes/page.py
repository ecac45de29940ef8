"""The page of a cause as a value: what it is, what it looks like, what speaks for and against it, what would prove it,
what to do."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import dataclass

from debugtracer.causes.cause import Cause, causes
from debugtracer.checks.check import checks, nearest
from debugtracer.docstrings import title
from debugtracer.errors import UsageError


@dataclass(frozen=True)
class Page:
    """What `debug-tracer causes CAUSE` and docs/causes/ show."""

    slug: str
    title: str
    """The first sentence of its file: what is wrong."""
    about: str
    """Why it does that, from the docstring of its class."""
    kind: str
    layer: str
    looks_like: str
    """What it looks like where a value became non-finite; empty when it is heard of findings only."""
    named_by: tuple[str, ...]
    """Checks whose finding says it."""
    supports: tuple[str, ...]
    contradicts: tuple[str, ...]
    proved_by: tuple[str, ...]
    refuted_by: tuple[str, ...]
    remedies: tuple[str, ...]

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The headings with their lines; those without a line are left out."""
        rows = {
            "What it is": (self.about,),
            "What it looks like": (self.looks_like,) if self.looks_like else (),
            "Checks that name it": self.named_by,
            "Speaks for it": self.supports,
            "Speaks against it": self.contradicts,
            "Proved when this heals the step, narrowest first": self.proved_by,
            "Refuted when this does": self.refuted_by,
            "What to do": self.remedies,
        }
        return {heading: lines for heading, lines in rows.items() if lines}

    def text(self) -> str:
        """The page as plain text."""
        parts = [self.slug, "", self.title, "", "Class", f"    {self.kind}, {self.layer} layer"]
        for heading, lines in self.rows.items():
            parts += ["", heading, *(textwrap.indent(line, "    ") for line in lines)]
        return "\n".join(parts) + "\n"


def page_of(cause: Cause) -> Page:
    """The page of one cause, from its docstrings and class attributes."""
    kind = type(cause)
    of_incidents = kind.evidence_from_incident is not Cause.evidence_from_incident
    named_by = (
        tuple(slug for slug, check in checks().items() if check.kind == cause.kind) if cause.uses_findings else ()
    )
    return Page(
        slug=cause.slug,
        title=title_of(cause),
        about=docstring_of(kind),
        kind=cause.kind,
        layer=cause.layer,
        looks_like=docstring_of(kind.evidence_from_incident) if of_incidents else "",
        named_by=named_by,
        supports=tuple(slug for slug in cause.supports if slug not in named_by),
        contradicts=cause.contradicts,
        proved_by=cause.proved_by,
        refuted_by=cause.refuted_by,
        remedies=cause.remedies,
    )


def title_of(cause: Cause) -> str:
    """The first sentence of the file of a cause; of its class where the file says nothing."""
    module = inspect.getmodule(type(cause))
    return title((inspect.getdoc(module) if module else None) or docstring_of(type(cause)))


def docstring_of(thing: object) -> str:
    """Join the lines of what was written under a member into one line."""
    return " ".join((inspect.getdoc(thing) or "").split())


def find_cause(slug: str) -> Cause:
    """The cause of that slug or class. Raises UsageError naming the nearest ones."""
    known = causes()
    name = slug.replace("_", "-")
    if name not in known:
        raise UsageError(
            f"no cause is called {slug!r}; nearest are {', '.join(nearest(name, known))}; `debug-tracer causes` lists "
            f"all {len(known)}"
        )
    return known[name]
