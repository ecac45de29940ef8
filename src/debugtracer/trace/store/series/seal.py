"""From a live stream to list-block Parquet: read back, cut into blocks with roll-ups, write under a temporary name,
rename, remove the stream."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from debugtracer.trace.store.schema import NAMES_KEY, RANK, SUFFIX, segment_path, segments, series_schema
from debugtracer.trace.store.series.live import read_live

ROWS_PER_GROUP = 64  # rows in a Parquet row group: one series or few, so that a query reads little


def seal(folder: Path, number: int) -> Path | None:
    """Seal a live segment; return its file, None if it held no batch. Raises OSError, TraceError; the stream stays
    then.

    A kill between rename and removal leaves both; readers prefer the sealed one.
    """
    live = segment_path(folder, "live", number)
    table, problem = read_live(live)
    sealed = None
    if table is not None and len(table):
        sealed = segment_path(folder, "series", number)
        write_series(sealed, blocks_of(table))
    if problem:
        os.replace(live, live.with_suffix(".damaged"))  # kept for a person, no longer for readers
    else:
        live.unlink(missing_ok=True)
    del table
    give_back_memory()
    return sealed


def give_back_memory() -> None:
    """Let go of what pyarrow holds for its next table: ours comes in hours."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def blocks_of(live: Any) -> Any:
    """The sealed rows of a table of live rows, ascending in (series, step0)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # numpy: the supervisor of a run in which all is sealed needs none
    from debugtracer.trace.store.series.arrow_arrays import words
    from debugtracer.trace.store.series.blocks import points_of, series_rows

    parts = []
    for name in sorted(live.column("series").unique().to_pylist()):
        steps, values = points_of(live.filter(pc.equal(live.column("series"), words([name])[0])))
        if len(steps):
            parts.append(series_rows(name, steps, values))
    return pa.concat_tables(parts) if parts else pa.Table.from_batches([], series_schema())


def write_series(path: Path, table: Any, **metadata: str) -> None:
    """Write a sealed file at once: temporary name, fsync, rename. Raises OSError, no temporary file is left then."""
    import pyarrow.parquet as pq

    names = json.dumps(table.column("series").unique().to_pylist())
    extra = {key.encode(): value.encode() for key, value in metadata.items()}
    table = table.replace_schema_metadata(dict(series_schema().metadata) | {NAMES_KEY: names.encode()} | extra)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            pq.write_table(
                table, file, row_group_size=ROWS_PER_GROUP, compression="zstd", use_dictionary=["series"],
                use_byte_stream_split=["values.list.element", "min32.list.element", "max32.list.element",
                    "sum32.list.element"],
                write_page_checksum=True,
            )  # fmt: skip
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def seal_run(run: Path) -> list[str]:
    """Seal what ended writers left, in every rank, when none writes any more; return a sentence per file that
    failed."""
    problems: list[str] = []
    for folder in sorted(p for p in run.iterdir() if RANK.fullmatch(p.name)):
        for number, path in segments(folder).items():
            if path.suffix != f".{SUFFIX['live']}":
                continue
            try:
                seal(folder, number)
            except Exception as error:
                problems.append(f"{path} could not be sealed ({error}); it stays readable as it is.")
        sweep(folder)
    return problems


def sweep(folder: Path) -> None:
    """Remove temporary files of killed writers and streams whose sealed file exists."""
    for leftover in folder.glob(".series-*.tmp"):
        leftover.unlink(missing_ok=True)
    for number in segments(folder):
        if segment_path(folder, "series", number).exists():
            segment_path(folder, "live", number).unlink(missing_ok=True)
