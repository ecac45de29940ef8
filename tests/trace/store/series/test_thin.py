"""Facts about the byte budget."""

from pathlib import Path

import pyarrow.parquet as pq

from debugtracer.trace.store.series.thin import keep_within, thin
from debugtracer.trace.store.writer import TraceWriter


def sealed(run: Path) -> Path:
    writer = TraceWriter(run, 0, flush_steps=10**6, flush_s=600)
    for step in range(3000):
        writer.point(step, {"loss": float("nan") if step == 1500 else float(step)})
    writer.close()
    return run / "rank=0" / "series-000001.parquet"


def test_only_blocks_with_a_bad_value_keep_theirs(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    assert thin(path)
    table = pq.read_table(path, partitioning=None)
    kept = [values is not None for values in table.column("values").to_pylist()]
    assert kept == [bad > 0 for bad in table.column("bad").to_pylist()]
    assert (True in kept, False in kept) == (True, True)


def test_a_thinned_file_is_left_alone(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    thin(path)
    assert not thin(path)


def test_the_newest_file_stays_raw(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    assert keep_within(path.parent, 1) == []
    path.with_name("series-000002.parquet").write_bytes(path.read_bytes())
    assert keep_within(path.parent, 1) == [path]
