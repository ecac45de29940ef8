"""`debug-tracer causes`: the pattern library, from its docstrings."""

from __future__ import annotations

from typing import Annotated

import typer

from debugtracer.causes.cause import causes as all_causes
from debugtracer.causes.page import find_cause, page_of, title_of
from debugtracer.commands.checks import lit
from debugtracer.trace.finding import LAYERS


def causes(
    slug: Annotated[
        str | None, typer.Argument(help="A cause, such as log-domain; all of them in one line each when left out.")
    ] = None,
) -> None:
    """List the causes, or show one: what it looks like, what speaks for and against it, which trial proves it, what to
    do."""
    typer.echo(lit(catalogue() if slug is None else one(slug)), nl=False)


def catalogue() -> str:
    """Return one line for each cause, by layer."""
    known = all_causes()
    wide = max(map(len, known))
    parts = []
    for layer in LAYERS:
        mine = [f"  {slug:{wide}}  {title_of(cause)}\n" for slug, cause in known.items() if cause.layer == layer]
        parts += [f"{layer}\n", *mine, "\n"] if mine else []
    return (
        "".join(parts)
        + "`debug-tracer causes NAME` shows one: what speaks for and against it, which trial proves it, what to do.\n"
    )


def one(slug: str) -> str:
    """The page of one cause. Raises UsageError naming the nearest ones."""
    return page_of(find_cause(slug)).text()
