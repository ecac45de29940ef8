"""Where the size of a table of rows is counted, if that is how many different ids there are: as large as the largest id
only where no number is left out."""

from __future__ import annotations

import ast

from debugtracer.callsites.origins.setting_origin import setting_line
from debugtracer.callsites.origins.value_origin import program_of
from debugtracer.callsites.origins.written_names import final_name
from debugtracer.trace.birth import Frame

TABLES = ("Embedding", "EmbeddingBag")
DISTINCT = ("unique", "nunique", "unique_consecutive", "set", "drop_duplicates")
"""Functions that leave every value once."""


def counted_at(built: Frame, rows: int) -> Frame | None:
    """The line that counts the different ids for a table of so many rows, which is built on a line; None where its size
    comes from elsewhere."""
    program = program_of(built.file)
    calls = program.every(ast.Call) if program is not None else []
    here = [n for n in calls if n.lineno <= built.line <= (n.end_lineno or n.lineno)]
    kind = next((name for n in here if (name := final_name(n.func)) in TABLES), None)
    if kind is None:
        return None
    line = setting_line((built,), kind, "num_embeddings", 0, rows) or built
    return line if counts(line) else None


def counts(line: Frame) -> bool:
    """Whether a line counts different values."""
    program = program_of(line.file)
    return program is not None and any(
        leaves_each_once(n) and n.lineno <= line.line <= (n.end_lineno or 0)
        for n in program.nodes
        if isinstance(n, ast.expr)
    )


def leaves_each_once(node: ast.expr) -> bool:
    """Whether an expression leaves every value once: `set(ids)`, `{i for i in ids}`, `frame.id.unique()`."""
    return isinstance(node, ast.SetComp) or (isinstance(node, ast.Call) and final_name(node.func) in DISTINCT)
