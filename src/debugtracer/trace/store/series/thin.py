"""The byte budget of a run: the oldest sealed raw values go first; roll-ups and blocks with bad values stay."""

from __future__ import annotations

from pathlib import Path

from debugtracer.trace.store.schema import THINNED_KEY, segments
from debugtracer.trace.store.series.seal import seal, write_series


def seal_within(folder: Path, number: int, run_bytes: int) -> None:
    """Seal a live segment and thin the rank's older ones to `run_bytes`. Raises OSError, TraceError."""
    seal(folder, number)
    keep_within(folder, run_bytes)


def keep_within(folder: Path, run_bytes: int) -> list[Path]:
    """Thin a rank's sealed files, oldest first, to `run_bytes`, never the newest; return the thinned. Raises
    OSError."""
    sealed = [path for path in segments(folder).values() if path.suffix == ".parquet"]
    total = sum(path.stat().st_size for path in sealed)
    thinned: list[Path] = []
    for path in sealed[:-1]:
        if total <= run_bytes:
            break
        size = path.stat().st_size
        if thin(path):
            total += path.stat().st_size - size
            thinned.append(path)
    return thinned


def thin(path: Path) -> bool:
    """Drop the values of all rows without a bad one; False if that was done before."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if THINNED_KEY in (pq.read_schema(path).metadata or {}):
        return False
    table = pq.read_table(path, use_threads=False, partitioning=None)
    field = table.schema.field("values")
    kept = pc.if_else(pc.greater(table.column("bad"), 0), table.column("values"), pa.scalar(None, field.type))
    write_series(
        path, table.set_column(table.schema.get_field_index("values"), field, kept), **{THINNED_KEY.decode(): "1"}
    )
    return True
