"""Facts about file names and format versions."""

from pathlib import Path

import pyarrow as pa
import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.store.schema import (
    VERSION_KEY,
    check_version,
    live_schema,
    segment_path,
    segments,
    series_schema,
)


def test_a_sealed_file_wins_over_its_live_one(tmp_path: Path) -> None:
    for path in (
        segment_path(tmp_path, "live", 2),
        segment_path(tmp_path, "series", 2),
        segment_path(tmp_path, "live", 10),
    ):
        path.touch()
    assert segments(tmp_path) == {2: tmp_path / "series-000002.parquet", 10: tmp_path / "live-000010.arrows"}


def test_other_files_are_no_segments(tmp_path: Path) -> None:
    for name in ("live-1.arrows", "live-000001.parquet", "series-000001.parquet.part", "events.jsonl"):
        (tmp_path / name).touch()
    assert segments(tmp_path) == {}


def test_both_schemas_carry_the_version_they_check() -> None:
    for schema in (pa.schema(live_schema()), series_schema()):
        check_version(Path("x"), schema.metadata, 1)


def test_another_version_and_none_are_refused_in_words() -> None:
    with pytest.raises(TraceError, match="has trace format 9; this debug-tracer reads format 1"):
        check_version(Path("x"), {VERSION_KEY: b"9"}, 1)
    with pytest.raises(TraceError, match="carries no trace format version"):
        check_version(Path("x"), None, 1)
