"""The guilty rows of an incident's batch beside healthy ones, from its batch.json."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from debugtracer.errors import TraceError
from debugtracer.trace.counted import counted
from debugtracer.trace.number import Number, as_float
from debugtracer.trace.stored_json import DamagedJson, decode_stored

VERSION = 1
FILE = "batch.json"


class Picture(msgspec.Struct, frozen=True):
    """Pixels of a row that has the shape of an image: bytes in base64, (height, width, channels); `bad` are the pixels
    that are not finite."""

    height: int
    width: int
    channels: int
    pixels: str
    bad: tuple[int, ...] = ()


class Leaf(msgspec.Struct, frozen=True):
    """One tensor of one row. low/high are the range of its finite values, counts are elements."""

    name: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    low: Number | None = None
    high: Number | None = None
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    values: tuple[int | Number, ...] = ()
    """The first 16 at most."""
    text: str | None = None
    picture: Picture | None = None
    signal: tuple[Number, ...] = ()
    """Even points of a row that is one long line of floating numbers."""


class BatchRow(msgspec.Struct, frozen=True):
    """One row of the batch; `index` is its dataset index."""

    row: int
    index: int | None = None
    guilty: bool = False
    leaves: tuple[Leaf, ...] = ()
    label: Any = None


class BatchView(msgspec.Struct, frozen=True):
    """What batch.json holds: the guilty rows and the first ones of the batch."""

    version: int
    rows: tuple[BatchRow, ...] = ()
    omitted: int = 0
    """Guilty rows that were not written."""


def read_batch(incident: Path) -> BatchView:
    """The batch of an incident folder. Raises TraceError in one sentence."""
    file = incident / FILE
    try:
        batch = decode_stored(file.read_bytes(), BatchView)
    except FileNotFoundError:
        raise TraceError(f"{incident}: the batch of this incident was not saved ({FILE} is missing)") from None
    except (OSError, DamagedJson) as error:
        raise TraceError(f"{file}: cannot be read as a batch ({error})") from None
    if batch.version != VERSION:
        raise TraceError(f"{file}: written by another version ({batch.version}, this one reads {VERSION})")
    return batch


def render_batch(batch: BatchView, *, color: bool = False, width: int = 80, healthy: int = 5) -> str:
    """Render guilty rows (marked `>`) first, then the first healthy ones, one table row per tensor."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(60, min(width, 140)),
        force_terminal=color,
        no_color=not color,
        highlight=False,
        markup=False,
        emoji=False,
    )
    guilty = [r for r in batch.rows if r.guilty]
    well = [r for r in batch.rows if not r.guilty][:healthy]
    console.print(Text(heading(guilty, well, batch.omitted), style="bold"))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("", "row", "index", "label", "tensor", "range", "NaN", "Inf", "first values"):
        fixed = name in ("row", "index", "label", "NaN", "Inf")
        table.add_column(name, overflow="fold", justify="right" if fixed else "left", no_wrap=fixed)
    for row in (*guilty, *well):
        for cells in lines(row):
            table.add_row(*(Text(cell, style="bold red" if row.guilty else "") for cell in cells))
    console.print(table)
    for text in texts([*guilty, *well]):
        console.print(Text(text))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def heading(guilty: list[BatchRow], well: list[BatchRow], omitted: int) -> str:
    """What the table shows."""
    if not guilty:
        return f"No single row is known to be guilty; the first {counted(len(well), 'row')} of the batch:"
    more = f" of {len(guilty) + omitted}" if omitted else ""
    beside = f" beside {counted(len(well), 'healthy one')}" if well else ""
    return f"{counted(len(guilty), 'guilty row')}{more} (marked >){beside}:"


def first_values(leaf: Leaf, most: int = 6) -> str:
    """Format the first values, whole numbers as such: `0 3 12 ...`."""
    shown = [str(v) if isinstance(v, int) else f"{as_float(v):.4g}" for v in leaf.values[:most]]
    return " ".join(shown) + (" ..." if len(leaf.values) > most else "")


def lines(row: BatchRow) -> list[tuple[str, ...]]:
    """Return the table lines of one row: one per tensor; number, index and label in the first."""
    label = "-" if row.label is None else f"{row.label:.4g}" if isinstance(row.label, float) else str(row.label)
    mark = (">" if row.guilty else "", str(row.row), "-" if row.index is None else str(row.index), label)
    cells = [
        (f"{t.name} {t.dtype}{list(t.shape)}", span(t), str(t.nan), str(t.inf), first_values(t)) for t in row.leaves
    ]
    return [(*(mark if i == 0 else ("", "", "", "")), *cell) for i, cell in enumerate(cells)] or [
        (*mark, "(no tensor)", "", "", "", "")
    ]


def texts(rows: list[BatchRow]) -> list[str]:
    """The decoded text of each row that has one."""
    return [
        f"{'>' if r.guilty else ' '} row {r.row} {t.name}: {t.text!r}"
        for r in rows
        for t in r.leaves
        if t.text is not None
    ]


def span(leaf: Leaf) -> str:
    """Format the range, `-2 .. 3.1`, in words when everything is zero or nothing is finite."""
    if leaf.low is None or leaf.high is None:
        return "nothing finite"
    low, high = as_float(leaf.low), as_float(leaf.high)
    return "all 0" if low == high == 0 and not leaf.nan and not leaf.inf else f"{low:.4g} .. {high:.4g}"
