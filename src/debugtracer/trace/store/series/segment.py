"""One segment, sealed or live, as sealed rows: what the trace reader merges."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.store.schema import NAMES_KEY, SERIES_VERSION, check_version, live_schema
from debugtracer.trace.store.series.live import first_line, read_live

# what a search for bad steps reads; of a live segment only its bad rows are cut into blocks
BAD_COLUMNS = ["series", "first_bad"]
SMALL_BYTES = 256 * 1024  # a sealed file that is read whole at the first question (ours): the next is of the same rank


class SegmentReader:
    """Reads segments; keeps the footers of sealed files and the last live table.

    Every method raises FileNotFoundError if the file was sealed meanwhile, TraceError if it is unreadable.
    """

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.tail: tuple[Path, int, Any] | None = None
        self.footers: dict[Path, tuple[tuple[int, int], Any]] = {}
        self.small: tuple[Path, Any, Any] | None = None
        """The small file that was read last, its footer and all of its rows."""

    def names(self, path: Path) -> set[str]:
        """The names of the series in a segment."""
        if path.suffix == ".parquet":
            with path.open("rb") as file:
                return set(json.loads(self.footer(path, file).metadata[NAMES_KEY]))
        table = self.live(path)
        return set(table.column("series").unique().to_pylist())

    def rows(
        self, path: Path, name: str | None, columns: list[str], start: int | None = None, stop: int | None = None
    ) -> Any:
        """The rows of a series (None: of all) as a table of sealed columns; start and stop only spare reading, rows may
        reach beyond."""
        if path.suffix == ".parquet":
            return self.sealed(path, name, columns, start, stop)
        from debugtracer.trace.store.series.blocks import bad_rows
        from debugtracer.trace.store.series.seal import blocks_of

        table = of_series(self.live(path), name)
        if name is not None and set(columns) <= set(table.column_names):
            return table
        return blocks_of(bad_rows(table) if columns == BAD_COLUMNS else table).select(columns)

    def live(self, path: Path) -> Any:
        """The whole batches of a live segment so far; no rows while it has no schema."""
        size = path.stat().st_size
        if self.tail is None or self.tail[:2] != (path, size):
            table, problem = read_live(path)
            self.problems += [problem] if problem else []
            self.tail = (path, size, no_rows() if table is None else table)
        return self.tail[2]

    def sealed(self, path: Path, name: str | None, columns: list[str], start: int | None, stop: int | None) -> Any:
        """Read rows of a sealed file, from the row groups that may hold them."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with path.open("rb") as file:
            footer = self.footer(path, file)
            if columns == BAD_COLUMNS and not may_hold_bad(footer):
                return footer.schema.to_arrow_schema().empty_table().select(columns)
            wanted = list(dict.fromkeys([*columns, "series", "step0", "step1"]))
            whole = self.footers[path][0][1] <= SMALL_BYTES
            groups = [
                i for i in range(footer.num_row_groups) if whole or may_hold(footer.row_group(i), name, start, stop)
            ]
            try:
                if whole and self.small is not None and self.small[0] == path and self.small[1] is footer:
                    table = self.small[2]
                else:
                    opened = pq.ParquetFile(file, metadata=footer, page_checksum_verification=True)
                    table = opened.read_row_groups(groups, columns=None if whole else wanted, use_threads=False)
                    self.small = (path, footer, table) if whole else self.small
                table = of_series(table.select(wanted), name)
            except (pa.ArrowException, OSError, ValueError, KeyError) as error:
                raise TraceError(
                    f"{path} is damaged ({first_line(error)}); its steps cannot be read, the other files of the run "
                    "are not affected."
                ) from None
        return of_steps(table, start, stop).select(columns)

    def footer(self, path: Path, file: Any) -> Any:
        """The metadata of a sealed file, read once per version of the file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        stat = os.fstat(file.fileno())
        stamp = (stat.st_ino, stat.st_size)
        if path not in self.footers or self.footers[path][0] != stamp:
            try:
                footer = pq.ParquetFile(file).metadata
            except (pa.ArrowException, OSError, ValueError) as error:
                raise TraceError(
                    f"{path} is no whole Parquet file ({first_line(error)}); it was cut short, the other files are not "
                    "affected."
                ) from None
            check_version(path, footer.metadata, SERIES_VERSION)
            self.footers[path] = (stamp, footer)
        return self.footers[path][1]


def may_hold(group: Any, name: str | None, start: int | None, stop: int | None) -> bool:
    """Whether a row group's statistics admit rows of a series (column 0) and of steps (columns 1, 2)."""
    series, step0, step1 = (group.column(i).statistics for i in range(3))
    if name is not None and series is not None and series.has_min_max and not series.min <= name <= series.max:
        return False
    if stop is not None and step0 is not None and step0.has_min_max and step0.min >= stop:
        return False
    return not (start is not None and step1 is not None and step1.has_min_max and step1.max < start)


def may_hold_bad(footer: Any) -> bool:
    """Whether the statistics of a sealed file admit a block with a bad value: one whose `first_bad` is not null."""
    column = footer.schema.names.index("first_bad") if "first_bad" in footer.schema.names else -1
    for i in range(footer.num_row_groups if column >= 0 else 0):
        told = footer.row_group(i).column(column).statistics
        if told is None or not told.has_null_count or told.null_count < footer.row_group(i).num_rows:
            return True
    return column < 0


def no_rows() -> Any:
    """A table of live rows without any."""
    import pyarrow as pa

    return pa.Table.from_batches([], pa.schema(live_schema()))


def of_series(table: Any, name: str | None) -> Any:
    """Filter the rows of one series; all for None."""
    import pyarrow.compute as pc

    from debugtracer.trace.store.series.arrow_arrays import words

    return table if name is None else table.filter(pc.equal(table.column("series"), words([name])[0]))


def of_steps(table: Any, start: int | None, stop: int | None) -> Any:
    """The rows that reach into start <= step < stop."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from debugtracer.trace.store.series.arrow_arrays import numbers

    if start is not None:
        table = table.filter(pc.greater_equal(table.column("step1"), numbers([start], pa.int64())[0]))
    return table if stop is None else table.filter(pc.less(table.column("step0"), numbers([stop], pa.int64())[0]))
