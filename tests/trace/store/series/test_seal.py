"""Sealed files: their layout, and what killed writers leave behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.schema import segments
from debugtracer.trace.store.series.seal import seal_run
from debugtracer.trace.store.writer import TraceWriter


def a_live_run(run: Path, steps: int = 3000) -> TraceWriter:
    writer = TraceWriter(run, 0, flush_steps=10**6, flush_s=600)
    for step in range(steps):
        writer.point(step, {"loss": float(step), "lr": 0.5})
        if step % 100 == 99:
            writer.flush()
    return writer


def test_a_sealed_file_is_what_the_papers_say(tmp_path: Path) -> None:
    a_live_run(tmp_path).close()
    file = pq.ParquetFile(tmp_path / "rank=0" / "series-000001.parquet")
    columns = {
        file.metadata.row_group(0).column(i).path_in_schema: file.metadata.row_group(0).column(i)
        for i in range(file.metadata.num_columns)
    }
    values = columns["values.list.element"]
    assert (values.compression, values.physical_type) == ("ZSTD", "FLOAT")
    assert "BYTE_STREAM_SPLIT" in values.encodings
    assert file.metadata.metadata[b"debugtracer.version"] == b"1"
    assert json.loads(file.metadata.metadata[b"debugtracer.series"]) == ["loss", "lr"]
    rows = file.read(columns=["series", "step0", "n"]).to_pylist()
    assert rows == [
        {"series": name, "step0": step0, "n": min(1024, 3000 - step0)}
        for name in ("loss", "lr")
        for step0 in (0, 1024, 2048)
    ]


def test_the_live_stream_goes_when_it_is_sealed_and_nothing_temporary_stays(tmp_path: Path) -> None:
    writer = a_live_run(tmp_path)
    assert os.listdir(tmp_path / "rank=0") == ["live-000001.arrows"]
    writer.close()
    assert os.listdir(tmp_path / "rank=0") == ["series-000001.parquet"]


def test_what_killed_writers_left_is_sealed_and_swept(tmp_path: Path) -> None:
    a_live_run(tmp_path).drop()  # leaves its stream, as a kill does
    folder = tmp_path / "rank=0"
    (folder / ".series-000007.parquet.123.tmp").write_bytes(b"half")
    assert seal_run(tmp_path) == []
    assert os.listdir(folder) == ["series-000001.parquet"]
    assert open_trace(tmp_path).series("loss")[0] == list(range(3000))


def test_a_damaged_stream_is_sealed_as_far_as_it_goes_and_kept_for_a_person(tmp_path: Path) -> None:
    a_live_run(tmp_path).drop()
    path = tmp_path / "rank=0" / "live-000001.arrows"
    data = bytearray(path.read_bytes())
    at = len(data) // 2 // 8 * 8
    data[at : at + 2000] = b"\x07" * 2000
    path.write_bytes(data)
    assert seal_run(tmp_path) == []
    assert sorted(os.listdir(tmp_path / "rank=0")) == ["live-000001.damaged", "series-000001.parquet"]
    steps, values = open_trace(tmp_path).series("loss")
    assert 500 < len(steps) < 3000
    assert values[:500] == [float(step) for step in range(500)]


def test_what_cannot_be_sealed_is_said_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "rank=0").mkdir()
    path = tmp_path / "rank=0" / "live-000001.arrows"
    path.write_bytes(b"no stream at all")
    (problem,) = seal_run(tmp_path)
    assert problem.startswith(f"{path} could not be sealed (")
    assert path.read_bytes() == b"no stream at all"


def test_the_sealed_form_of_a_segment_is_preferred(tmp_path: Path) -> None:
    for name in (
        "live-000001.arrows",
        "series-000001.parquet",
        "live-000002.arrows",
        "series-000010.parquet",
        ".series-000003.parquet.1.tmp",
        "notes",
    ):
        (tmp_path / name).touch()
    found = {number: path.name for number, path in segments(tmp_path).items()}
    assert found == {1: "series-000001.parquet", 2: "live-000002.arrows", 10: "series-000010.parquet"}


@pytest.mark.parametrize("name", ["a", "naïve/β", "x" * 300, ""])
def test_any_name_of_a_series_survives(name: str, tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    writer.point(0, {name: 1.0, "other": 2.0})
    writer.close()
    assert open_trace(tmp_path).names() == sorted([name, "other"])
    assert open_trace(tmp_path).series(name) == ([0], [1.0])
