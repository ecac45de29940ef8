"""The sealed series of all ranks as one table, merged by the layout alone (`RUN/rank=N/series-*.parquet`), from a disk
or an object store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from debugtracer.errors import TraceError
from debugtracer.trace.store.reader import BadStep

SEALED = "rank=*/series-*.parquet"


def fleet(run: str) -> Any:
    """A pyarrow dataset with the columns of a sealed series and `rank`; nothing but names is read yet.

    `run` is a run folder, or its address for fsspec (`s3://bucket/run`, `gs://...`, `memory://...`). Raises TraceError
    where there is no sealed series."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    filesystem, base, paths = listed(run)
    if not paths:
        raise TraceError(
            f"{run} holds no sealed series ({SEALED}); expected a run folder whose ranks have ended, or flushed often "
            "enough to seal one."
        )
    partitioning = ds.partitioning(pa.schema([("rank", pa.int32())]), flavor="hive")
    return ds.dataset(
        paths, filesystem=filesystem, format="parquet", partitioning=partitioning, partition_base_dir=base
    )


def listed(run: str) -> tuple[Any, str, list[str]]:
    """Return (file system for pyarrow, folder, sealed files in order of rank and time). Raises TraceError."""
    import pyarrow.fs

    if "://" not in run:
        from pathlib import Path

        folder = Path(run).resolve()
        return pyarrow.fs.LocalFileSystem(), str(folder), sorted(map(str, folder.glob(SEALED)))
    try:
        import fsspec

        filesystem, base = fsspec.core.url_to_fs(run)
        return (
            pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem)),
            base,
            sorted(filesystem.glob(f"{base}/{SEALED}")),
        )
    except ImportError as error:
        raise TraceError(
            f"{run} cannot be opened: {error}; install fsspec and the package for this kind of address."
        ) from None


def broke_first(run: str, names: Iterable[str] | None = None) -> BadStep | None:
    """The first step at which a series (of these names; default any) was not finite, over all ranks; None if none was.

    Of healthy files only the footers are read: their statistics say that nothing in them is bad. Raises TraceError."""
    import pyarrow.dataset as ds

    wanted = ds.field("bad") > 0
    if names is not None:
        wanted &= ds.field("series").isin(list(names))
    rows = fleet(run).to_table(columns=["first_bad", "rank", "series"], filter=wanted).to_pylist()
    if not rows:
        return None
    first = min(rows, key=lambda row: (row["first_bad"], row["rank"], row["series"]))
    return BadStep(step=first["first_bad"], series=first["series"], rank=first["rank"])
