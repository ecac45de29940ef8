"""The page of a check as a value: its docstring in sections, its options with unit and source, what it reads, blames
and is proved by."""

from __future__ import annotations

import ast
import functools
import inspect
import io
import itertools
import textwrap
import tokenize
from dataclasses import dataclass
from typing import Any

from debugtracer.checks.check import HEADINGS, Check, page
from debugtracer.docstrings import refilled, title

CERTAIN = "exact: a finding is a proof, no replay is needed"


@dataclass(frozen=True)
class Option:
    """One option of a check."""

    name: str
    kind: str
    """Type as written: float, int, tuple[str, ...]."""
    default: str
    about: str
    """Unit, meaning and source, from the comment or the string at the field."""


@dataclass(frozen=True)
class Page:
    """What `debug-tracer checks CHECK` and docs/checks/ show."""

    slug: str
    title: str
    """The first sentence: what is wrong."""
    sections: dict[str, str]
    options: tuple[Option, ...]
    reads: tuple[str, ...]
    certainty: str
    kind: str
    """Class of fault it diagnoses; empty for a symptom."""
    remedies: tuple[str, ...]
    suspects: tuple[str, ...]
    proved_by: str
    unproved: str
    """Why no planted fault fires it here; empty when one does."""

    def text(self) -> str:
        """The page as plain text."""
        parts = [self.slug, "", self.title]
        for heading, body in self.sections.items():
            parts += ["", heading, textwrap.indent(body, "    ")]
        if self.options:
            parts += ["", f"Options (--option {self.slug.split('/')[1]}.FIELD=VALUE)"]
            parts += [f"    {o.name} = {o.default}" + (f"  {o.about}" if o.about else "") for o in self.options]
        rows = {
            "Reads": self.reads,
            "Certainty": (self.certainty,),
            "Class": (self.kind,) if self.kind else (),
            "Remedies": self.remedies,
            "Suspects": (", ".join(self.suspects),) if self.suspects else (),
            "Proved by": (f"faults/{self.proved_by}",) if self.proved_by else (),
            "Not proved by a planted fault": (self.unproved,) if self.unproved else (),
        }
        for heading, lines in rows.items():
            parts += ["", heading, *(f"    {line}" for line in lines)] if lines else []
        return "\n".join(parts) + "\n"


def page_of(check: Check) -> Page:
    """Build the page of one check."""
    first, sections = split(page(check))
    return Page(
        slug=check.slug,
        title=first,
        sections=sections,
        options=tuple(options_of(check)),
        reads=tuple(
            need if isinstance(need, str) else f"{need.word()}: {title(inspect.getdoc(need) or '')}"
            for need in check.needs
        ),
        certainty=certainty(check),
        kind=check.kind or "",
        remedies=check.remedies,
        suspects=check.suspects,
        proved_by=check.proved_by,
        unproved=check.unproved,
    )


def certainty(check: Check) -> str:
    """What a finding of it is worth."""
    if check.exact:
        return CERTAIN
    return f"a guess with a guard: confidence {check.confidence:g}" if check.kind else "a symptom: causes explain it"


def split(text: str) -> tuple[str, dict[str, str]]:
    """The first sentence of a docstring, and the text below each of its headings; formulae before the first heading
    stay with the decision."""
    first, _, rest = text.partition("\n\n")
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in rest.splitlines():
        if line in HEADINGS:
            heading = line
        sections.setdefault(heading, []).append("" if line == heading else line)
    plain = {name: refilled(textwrap.dedent("\n".join(lines)).strip("\n")) for name, lines in sections.items()}
    more = plain.pop("", "").strip()
    if more:
        plain["How it decides"] = f"{plain.get('How it decides', '')}\n\n{more}".strip("\n")
    return title(first), plain


def options_of(check: Check) -> list[Option]:
    """Return the options of a check in the order of its fields."""
    about = {
        name: told
        for kind in reversed(type(check).__mro__)
        if issubclass(kind, Check) and kind is not Check
        for name, told in field_docs(kind).items()
    }
    written = {
        name: a for kind in reversed(type(check).__mro__) for name, a in vars(kind).get("__annotations__", {}).items()
    }
    return [
        Option(name, kind_of(written[name]), shown(getattr(check, name)), about.get(name, ""))
        for name in check.__struct_fields__
    ]


def kind_of(annotation: Any) -> str:
    """A type as it was written."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def shown(value: Any) -> str:
    """A default as a person writes it."""
    return (
        f"{value:g}"
        if isinstance(value, float)
        else ", ".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


@functools.cache
def field_docs(kind: type) -> dict[str, str]:
    """What is said of each field of a class: the string below it, the comment behind it, or else the comment lines
    above it."""
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    comments = {
        t.start[0]: t.string.lstrip("# ").strip()
        for t in tokenize.generate_tokens(io.StringIO(source).readline)
        if t.type == tokenize.COMMENT
    }
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    told: dict[str, str] = {}
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            string = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            comment = next(
                (
                    comments[line]
                    for line in range(node.end_lineno or node.lineno, node.lineno - 1, -1)
                    if line in comments
                ),
                "",
            )
            above = itertools.takewhile(
                lambda row: lines[row - 1].lstrip().startswith("#"), range(node.lineno - 1, 0, -1)
            )
            comment = comment or " ".join(comments[row] for row in reversed([*above]))
            told[node.target.id] = " ".join(str(string or comment).split())
    return told
