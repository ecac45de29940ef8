"""Arrow arrays over numpy's memory, against pyarrow's own conversions; and that none of them imports pandas."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from debugtracer.trace.store.series.arrow_arrays import as_numpy, bits, cut, is_valid, lists, numbers, words

STORES = """
import sys
from pathlib import Path
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.writer import TraceWriter

run = Path(sys.argv[1])
writer = TraceWriter(run, 0)
for step in [*range(300), 5000, 5001]:
    writer.point(step, {"loss": float("nan") if step == 7 else float(step), "norm": 1.0})
writer.flush()
live = Trace(run).series("loss")[0]
writer.close()
sealed = Trace(run).series("loss")[0]
assert len(live) == len(sealed) == 302, (len(live), len(sealed))
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("kind", [pa.int64(), pa.int32(), pa.float32(), pa.float64()])
def test_numbers_are_those_that_pyarrow_would_make(kind: pa.DataType) -> None:
    assert numbers([3, 0, 7], kind).equals(pa.array([3, 0, 7], kind))
    assert numbers([3, 0, 7], kind, np.array([True, False, True])).equals(pa.array([3, None, 7], kind))
    assert numbers([], kind).equals(pa.array([], kind))


def test_words_are_those_that_pyarrow_would_make() -> None:
    assert words(["loss", "", "größe"]).equals(pa.array(["loss", "", "größe"]))


def test_lists_are_those_that_pyarrow_would_make() -> None:
    kind = pa.list_(pa.int64())
    for parts in ([np.array([1, 2]), None, np.array([3])], [None, None], [np.array([], np.int64)]):
        made = lists(parts, kind)
        made.validate(full=True)
        assert made.equals(pa.array(parts, kind))
    assert cut(np.arange(5.0), np.array([0, 2, 5]), pa.list_(pa.float32())).to_pylist() == [[0.0, 1.0], [2.0, 3.0, 4.0]]


def test_numbers_come_back_also_from_a_slice_and_a_column() -> None:
    array = pa.array([1.5, None, 2.5, 4.0], pa.float32())
    np.testing.assert_array_equal(as_numpy(array), [1.5, np.nan, 2.5, 4.0])
    np.testing.assert_array_equal(as_numpy(array.slice(1, 2)), [np.nan, 2.5])
    np.testing.assert_array_equal(is_valid(array.slice(1, 2)), [False, True])
    table = pa.concat_tables([pa.table({"n": [1, 2]}), pa.table({"n": [3]})])
    np.testing.assert_array_equal(as_numpy(table.column("n")), [1, 2, 3])
    assert as_numpy(pa.array([], pa.int32())).dtype == np.int32


def test_no_bitmap_where_all_are_valid() -> None:
    assert bits(None) is None and bits(np.array([True, True])) is None


def test_a_series_is_written_sealed_and_read_without_pandas(tmp_path: Path) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "pandas.py").write_text("__version__ = '0'\n")  # what pyarrow asks for by its name
    path = os.pathsep.join([str(tmp_path / "path"), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", STORES, str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "False", done.stderr
