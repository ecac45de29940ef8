"""Arrow arrays by nanoarrow, against pyarrow's own conversions; and that whoever writes them never imports it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nanoarrow as na
import numpy as np
import pyarrow as pa
import pytest

from debugtracer.trace.store.stream_arrays import (
    as_bytes,
    batch,
    bits,
    lists,
    number_lists,
    numbers,
    stream_schema,
    word_lists,
    words,
)

WRITES = """
import sys
from pathlib import Path
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.writer import TraceWriter
from tests.trace.facts.test_layer_norms import some_norms
from tests.trace.store.test_layer_columns import a_snapshot

sys.modules.pop("pyarrow", None)
for name in [name for name in sys.modules if name.startswith("pyarrow.")]:
    del sys.modules[name]
writer = TraceWriter(Path(sys.argv[1]), 0)
for step in range(300):
    writer.point(step, {"loss": float(step), "norm": 1.0})
writer.snapshot(a_snapshot(0))
writer.norms(some_norms(7))
writer.flush()
print("pyarrow" in sys.modules, writer.off, sorted(path.name for path in Path(sys.argv[1]).rglob("*.arrows")))
"""


@pytest.mark.parametrize(("kind", "same"), [("int64", pa.int64()), ("int32", pa.int32()), ("float32", pa.float32())])
def test_numbers_are_those_that_pyarrow_would_make(kind: str, same: pa.DataType) -> None:
    assert pa.array(numbers([3, 0, 7], kind)).equals(pa.array([3, 0, 7], same))
    assert pa.array(numbers([3, 0, 7], kind, np.array([True, False, True]))).equals(pa.array([3, None, 7], same))
    assert pa.array(numbers([], kind)).equals(pa.array([], same))


def test_words_are_those_that_pyarrow_would_make() -> None:
    assert pa.array(words(["loss", "", "größe"])).equals(pa.array(["loss", "", "größe"]))
    assert pa.array(words([])).equals(pa.array([], pa.string()))


def test_lists_are_those_that_pyarrow_would_make() -> None:
    for parts in ([np.array([1, 2]), None, np.array([3])], [None, None], [np.array([], np.int64)]):
        made = pa.array(number_lists(parts, "int64"))
        made.validate(full=True)
        assert made.equals(pa.array(parts, pa.list_(pa.int64())))
    assert pa.array(word_lists([["a", "bc"], None, []])).to_pylist() == [["a", "bc"], None, []]
    part = lists([2, 1], numbers([1, 2, 3], "float32", np.array([True, False, True])))
    assert pa.array(part).to_pylist() == [[1.0, None], [3.0]]


def test_no_bitmap_where_all_are_valid() -> None:
    assert bits(None) is None and bits(np.array([True, True])) is None


def test_batches_behind_one_schema_are_a_stream_with_its_metadata() -> None:
    schema = stream_schema({"step": na.int64(nullable=False), "layer": na.list_(na.string())}, {b"version": b"7"})
    rows = [
        batch(schema, [numbers([step], "int64"), word_lists([names])], 1) for step, names in ((1, ["a"]), (2, None))
    ]
    stream = pa.ipc.open_stream(as_bytes(rows[0], first=True) + as_bytes(rows[1], first=False))
    assert stream.schema.metadata == {b"version": b"7"}
    assert stream.read_all().to_pylist() == [{"step": 1, "layer": ["a"]}, {"step": 2, "layer": None}]


def test_a_process_that_writes_never_imports_pyarrow(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITES, str(tmp_path)], cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    files = ["layers-000001.arrows", "live-000001.arrows", "norms-000001.arrows"]
    assert done.stdout.strip() == f"False None {files}", done.stderr
