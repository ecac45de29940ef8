"""The op table of an incident on disk: what the traced replay saw of each op, as columns of `ops.parquet`."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import msgspec

from debugtracer.errors import TraceError
from debugtracer.trace.birth import Direction
from debugtracer.trace.store.schema import check_version, version_metadata

OPS = "ops.parquet"
OPS_VERSION = 1
MOST_OPS = 6000  # rows kept of a step: a page of them stays below 1 MB
BEFORE = 4000  # of these, before the op where the value was born
BIRTH_KEY, SEEN_KEY = b"debugtracer.birth", b"debugtracer.ops"


class OpRow(msgspec.Struct, frozen=True, kw_only=True):
    """One op of a traced step. `low`, `high` and `mean` are of finite values, None where there are none; `nan`, `inf`
    and `numel` count elements of all its results."""

    index: int
    """Position in the traced step, from 0."""
    op: str
    direction: Direction
    forward_op: str | None = None
    """For a backward op: the forward op whose derivative it is."""
    module: str | None = None
    file: str | None = None
    """Of the user's line, for a backward op of the line of its forward op."""
    line: int | None = None
    code: str = ""
    producers: tuple[int, ...] = ()
    """Indices of the ops that wrote what it read."""
    inputs: tuple[str, ...] = ()
    """What it read from before the step, by name: `batch[0]`, `parameter head.weight`."""
    shape: tuple[int, ...] = ()
    """Of its first result, or of the first bad one."""
    dtype: str = ""
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    nan: int = 0
    inf: int = 0
    numel: int = 0
    at: tuple[tuple[int, ...], ...] = ()
    """Of a bad result: the first bad coordinates, at most four."""
    values: tuple[float, ...] = ()
    """What it holds there."""
    reads: tuple[str, ...] = ()
    """Of an op that keeps places apart: what it read, by the index of the op that wrote it or by name (`batch[0]`)."""
    read: tuple[tuple[float, ...], ...] = ()
    """Of each of `reads` its values there."""


class OpTable(msgspec.Struct, frozen=True, kw_only=True):
    """The ops of one traced step, in order."""

    rows: tuple[OpRow, ...]
    seen: int
    """Ops that ran, those that were not kept included."""
    birth: int | None = None
    """Index of the op where the first bad value was born; None for a bad input or where it is not known."""


@functools.cache
def op_schema() -> Any:
    """The Arrow schema of the table: one row an op."""
    import pyarrow as pa

    word = pa.dictionary(pa.int32(), pa.string())
    kinds = {
        "op": word,
        "direction": word,
        "forward_op": word,
        "module": word,
        "file": word,
        "code": word,
        "dtype": word,
        "index": pa.int32(),
        "line": pa.int32(),
        "producers": pa.list_(pa.int32()),
        "inputs": pa.list_(pa.string()),
        "shape": pa.list_(pa.int64()),
        **dict.fromkeys(("low", "high", "mean"), pa.float64()),
        **dict.fromkeys(("nan", "inf", "numel"), pa.int64()),
        "at": pa.list_(pa.list_(pa.int64())),
        "values": pa.list_(pa.float64()),
        "reads": pa.list_(pa.string()),
        "read": pa.list_(pa.list_(pa.float64())),
    }
    return pa.schema([pa.field(name, kinds[name]) for name in OpRow.__struct_fields__])


def kept(rows: list[OpRow], birth: int | None) -> list[OpRow]:
    """Take at most MOST_OPS rows: around the birth where one is known, else the first."""
    place = next((n for n, row in enumerate(rows) if row.index == birth), 0)
    start = min(max(0, place - BEFORE), max(0, len(rows) - MOST_OPS))
    return rows[start : start + MOST_OPS]


def write_ops(folder: Path, rows: list[OpRow], seen: int, birth: int | None) -> None:
    """Write the table into the folder of an incident."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    chosen = kept(rows, birth)
    columns = {name: [getattr(row, name) for row in chosen] for name in OpRow.__struct_fields__}
    told = {
        **version_metadata(OPS_VERSION),
        SEEN_KEY: str(seen).encode(),
        **({BIRTH_KEY: str(birth).encode()} if birth is not None else {}),
    }
    table = pa.table(columns, schema=op_schema()).replace_schema_metadata(told)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / OPS, compression="zstd")


def read_ops(folder: Path) -> OpTable | None:
    """Read the table of an incident folder; None where none was written. Raises TraceError in one sentence."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / OPS
    if not path.exists():
        return None
    try:
        table = pq.read_table(path, partitioning=None)
        told = table.schema.metadata or {}
        check_version(path, told, OPS_VERSION)
        birth = int(told[BIRTH_KEY]) if BIRTH_KEY in told else None
        rows = tuple(msgspec.convert(row, OpRow) for row in table.to_pylist())
        return OpTable(rows=rows, seen=int(told[SEEN_KEY]), birth=birth)
    except (OSError, pa.ArrowInvalid, KeyError, ValueError, msgspec.ValidationError) as error:
        raise TraceError(f"{path}: cannot be read as the op table of an incident ({error})") from None
