"""The op table of the incident that explains the run, in columns, its strings named once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.store.op_table import OpTable, read_ops
from debugtracer.trace.store.reader import Trace
from debugtracer.views.page.series_panel import short
from debugtracer.views.view import incidents

WORDS = ("op", "direction", "forward_op", "module", "file", "code", "dtype")
NUMBERS = ("low", "high", "mean")
PLAIN = ("index", "line", "nan", "inf", "numel")


def ops_panel(trace: Trace) -> dict[str, Any]:
    """The table as columns; without one, why there is none."""
    told = incidents(trace)
    if not told:
        return {"why": "no-incident"}
    folder = told[0].folder
    try:
        table = read_ops(trace.path / Path(folder)) if folder else None
    except TraceError as error:
        return {"why": "damaged", "text": str(error)}
    if table is None or not table.rows:
        return {"why": "not-traced"}
    return columns(table) | {"step": told[0].facts.ref.step}


def columns(table: OpTable) -> dict[str, Any]:
    """Make columns of the same length; those of words hold indices into `words`."""
    words: dict[str | None, int] = {}
    named = {column: [words.setdefault(getattr(row, column), len(words)) for row in table.rows] for column in WORDS}
    return {
        "seen": table.seen,
        "birth": table.birth,
        "words": list(words),
        **named,
        **{column: [getattr(row, column) for row in table.rows] for column in PLAIN},
        **{column: [short(getattr(row, column)) for row in table.rows] for column in NUMBERS},
        "shape": [list(row.shape) for row in table.rows],
        "producers": [list(row.producers) for row in table.rows],
        "inputs": [list(row.inputs) for row in table.rows],
        "reads": [list(row.reads) for row in table.rows],
        "at": [[list(place) for place in row.at] for row in table.rows],
        "values": [[short(value) for value in row.values] for row in table.rows],
        "read": [[[short(value) for value in values] for values in row.read] for row in table.rows],
    }
