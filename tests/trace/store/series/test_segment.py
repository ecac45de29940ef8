"""Facts about one segment as the reader sees it."""

from pathlib import Path

import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.store.series.segment import SegmentReader
from debugtracer.trace.store.writer import TraceWriter

COLUMNS = ["series", "step0", "step1", "n"]


def written(run: Path, *, closed: bool) -> Path:
    writer = TraceWriter(run, 0, flush_steps=10**6, flush_s=600)
    for step in range(3000):
        writer.point(step, {"loss": float(step), "lr": 0.5})
    writer.close() if closed else writer.flush()
    (path,) = [p for p in (run / "rank=0").iterdir() if p.suffix in (".parquet", ".arrows")]
    return path


@pytest.mark.parametrize("closed", [True, False])
def test_live_and_sealed_give_the_same_names_and_points(tmp_path: Path, closed: bool) -> None:
    reader, path = SegmentReader(), written(tmp_path, closed=closed)
    assert reader.names(path) == {"loss", "lr"}
    rows = reader.rows(path, "loss", COLUMNS)
    assert set(rows.column("series").to_pylist()) == {"loss"}
    assert sum(rows.column("n").to_pylist()) == 3000


def test_blocks_out_of_the_range_are_not_read(tmp_path: Path) -> None:
    rows = SegmentReader().rows(written(tmp_path, closed=True), "loss", COLUMNS, 2900, 2950)
    assert min(rows.column("step0").to_pylist()) >= 2048


def test_a_file_cut_short_is_one_sentence(tmp_path: Path) -> None:
    path = written(tmp_path, closed=True)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TraceError, match="no whole Parquet file"):
        SegmentReader().names(path)
