"""Live segments: torn at any byte, or damaged."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.store.series.blocks import live_batch
from debugtracer.trace.store.series.live import LiveSegment, read_live, write_whole
from debugtracer.trace.store.stream_arrays import as_bytes


def a_flush(flush: int) -> Any:
    return live_batch([(step, {"loss": float(step), "lr": 0.5}) for step in range(flush * 10, flush * 10 + 10)])


def a_stream(folder: Path, batches: int = 3) -> Path:
    segment = LiveSegment(folder)
    for flush in range(batches):
        segment.append(a_flush(flush))
    segment.close()
    return segment.path


def test_a_stream_torn_anywhere_yields_every_whole_batch(tmp_path: Path) -> None:
    path = a_stream(tmp_path)
    data = path.read_bytes()
    batch = len(as_bytes(a_flush(0), first=False))
    schema = len(data) - 3 * batch
    edges = [schema + batch * whole for whole in range(4)]
    near = {end for edge in edges for end in range(max(edge - 12, 0), min(edge + 12, len(data)) + 1)}
    for end in sorted(near | set(range(0, len(data) + 1, 37)) | set(range(24))):
        path.write_bytes(data[:end])
        table, problem = read_live(path)
        assert problem is None
        assert (None if table is None else len(table)) == (None if end < schema else (end - schema) // batch * 2)


def test_a_stream_without_schema_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "live-000001.arrows").write_bytes(b"")
    assert read_live(tmp_path / "live-000001.arrows") == (None, None)


def test_what_is_no_stream_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "live-000001.arrows"
    path.write_bytes(b"hello, this is text")
    with pytest.raises(
        TraceError,
        match=r"live-000001\.arrows is not an Arrow IPC stream \(it begins with b'hell'\); it was overwritten",
    ):
        read_live(path)


def test_damage_in_the_middle_keeps_what_is_before_it_and_is_said(tmp_path: Path) -> None:
    path = a_stream(tmp_path)
    data = bytearray(path.read_bytes())
    batch = len(as_bytes(a_flush(0), first=False))
    at = len(data) - batch + 16  # inside the flatbuffer of the last batch
    data[at : at + 24] = os.urandom(3) * 8
    path.write_bytes(data)
    table, problem = read_live(path)
    assert len(table) == 4
    assert problem is not None
    assert problem.startswith(f"{path} is damaged after 2 whole batches (")


def test_a_new_segment_never_takes_an_existing_name(tmp_path: Path) -> None:
    names = [LiveSegment(tmp_path).path.name for _ in range(3)]
    assert names == ["live-000001.arrows", "live-000002.arrows", "live-000003.arrows"]


def test_a_write_that_fails_half_way_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"kept")
    file = os.open(path, os.O_RDWR | os.O_APPEND)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # six more bytes fit
    try:
        with pytest.raises(OSError, match="File too large"):
            write_whole(file, b"x" * 100, 4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        os.close(file)
    assert path.read_bytes() == b"kept"
