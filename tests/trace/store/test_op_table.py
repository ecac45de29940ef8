"""The op table comes back as it was written, is bounded around the birth, and is refused when it is damaged."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.store.op_table import BEFORE, MOST_OPS, OPS, OpRow, kept, op_schema, read_ops, write_ops

ROW = OpRow(
    index=3, op="aten::div", direction="backward", forward_op="aten::sqrt", module="", file="/a/train.py", line=80,
    code="size = z.sqrt()", producers=(1, 2), inputs=("batch[0]",), shape=(8, 2), dtype="float32", low=0.5, high=2.0,
    mean=1.0, inf=1, numel=16,
)  # fmt: skip


def test_a_table_comes_back_as_it_was_written(tmp_path: Path) -> None:
    bare = OpRow(index=4, op="aten::add", direction="forward")
    write_ops(tmp_path, [ROW, bare], seen=7, birth=3)
    table = read_ops(tmp_path)
    assert table is not None
    assert (table.rows, table.seen, table.birth) == ((ROW, bare), 7, 3)


def test_the_columns_are_those_that_docs_run_folder_names(tmp_path: Path) -> None:
    write_ops(tmp_path, [ROW], seen=1, birth=None)
    assert pq.read_schema(tmp_path / OPS).names == op_schema().names == list(OpRow.__struct_fields__)
    page = (Path(__file__).parents[3] / "docs" / "run-folder.md").read_text()
    assert all(f"`{name}`" in page for name in OpRow.__struct_fields__)


def test_a_long_step_is_kept_around_its_birth() -> None:
    rows = [OpRow(index=n, op="aten::add", direction="forward") for n in range(3 * MOST_OPS)]
    around = kept(rows, 2 * MOST_OPS)
    assert len(around) == MOST_OPS
    assert around[0].index == 2 * MOST_OPS - BEFORE
    assert [r.index for r in kept(rows, None)] == list(range(MOST_OPS))
    assert kept(rows, 3 * MOST_OPS - 1)[-1].index == 3 * MOST_OPS - 1


def test_no_table_is_none_and_a_damaged_one_is_said(tmp_path: Path) -> None:
    assert read_ops(tmp_path) is None
    write_ops(tmp_path, [ROW], seen=1, birth=3)
    whole = (tmp_path / OPS).read_bytes()
    (tmp_path / OPS).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TraceError, match="cannot be read as the op table"):
        read_ops(tmp_path)
