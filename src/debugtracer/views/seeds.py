"""The seed audit as a table: `debug-tracer report RUN --seeds`, one row a generator with its risk."""

from __future__ import annotations

from debugtracer.errors import TraceError
from debugtracer.trace.events import Observed
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.seeds import SeedRow, Seeds
from debugtracer.trace.store.reader import Trace
from debugtracer.views.words import wording

HEAD = ("generator", "seeded", "seed", "where", "times seeded", "risk")


def render_seeds(trace: Trace) -> str:
    """The last audit of each rank as text, ending in a newline. Raises TraceError when none was taken."""
    lines: list[str] = []
    for rank in trace.ranks:
        facts = [
            from_plain(e.word, e.fact) for e in trace.events(rank) if isinstance(e, Observed) and e.word == Seeds.word()
        ]
        audits = [fact for fact in facts if isinstance(fact, Seeds)]
        if not audits:
            continue
        rows = [HEAD, *map(cells, audits[-1].rows)]
        widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
        lines += [
            f"Seeds of rank {rank}",
            *("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows),
        ]
        lines += [f"  one generator is shared by {', '.join(audits[-1].shared)}"] if audits[-1].shared else []
    if not lines:
        raise TraceError(
            f"{trace.path}: no seed audit was taken; it is taken at the first backward call of a watched run."
        )
    return "\n".join(lines) + "\n"


def cells(row: SeedRow) -> tuple[str, ...]:
    """The table cells of one generator."""
    where = f"{wording.path(row.frame.file)}:{row.frame.line}" if row.frame is not None else ""
    return (
        row.source,
        "yes" if row.seeded else "no",
        "" if row.value is None else str(row.value),
        where,
        str(row.calls),
        row.risk or "none",
    )
