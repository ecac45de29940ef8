"""Many ranks read as one table: who broke first, by the layout alone, on a disk and in another file system."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.store.op_table import OpRow, write_ops
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.series.blocks import series_rows
from debugtracer.trace.store.series.fleet import broke_first, fleet
from debugtracer.trace.store.series.seal import write_series

STEPS = 300


def a_fleet(run, ranks=12, broken=None):
    import numpy as np
    import pyarrow as pa

    (run / "run.json").parent.mkdir(parents=True, exist_ok=True)
    (run / "run.json").write_text(json.dumps({}))
    steps = np.arange(STEPS)
    for rank in range(ranks):
        tables = []
        for name in ("grad_l2", "loss"):
            values = np.linspace(2.0, 1.0, STEPS, dtype=np.float32)
            for at in (broken or {}).get((rank, name), ()):
                values[at:] = np.nan
            tables.append(series_rows(name, steps, values))
        folder = run / f"rank={rank}"
        folder.mkdir(parents=True)
        write_series(folder / "series-000001.parquet", pa.concat_tables(tables))
    return run


def test_the_earliest_step_of_all_ranks_wins(tmp_path):
    run = a_fleet(tmp_path / "run", broken={(7, "grad_l2"): [204], (3, "loss"): [205], (11, "loss"): [204]})
    first = broke_first(str(run))
    assert first == open_trace(run).first_bad() and (first.step, first.rank, first.series) == (204, 7, "grad_l2")
    assert broke_first(str(run), ["loss"]).rank == 11


def test_healthy_ranks_have_none(tmp_path):
    assert broke_first(str(a_fleet(tmp_path / "run"))) is None


def test_the_table_has_a_rank_for_each_row(tmp_path):
    table = fleet(str(a_fleet(tmp_path / "run", ranks=3))).to_table(columns=["rank", "series", "n"])
    assert (
        sorted(set(table.column("rank").to_pylist())) == [0, 1, 2]
        and sum(table.column("n").to_pylist()) == 3 * 2 * STEPS
    )


def test_an_object_store_is_read_through_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    run = a_fleet(tmp_path / "run", ranks=4, broken={(2, "loss"): [9]})
    store = fsspec.filesystem("memory")
    store.put(str(run), "memory://bucket/run", recursive=True)
    assert broke_first("memory://bucket/run") == broke_first(str(run))


def test_duckdb_needs_nothing_but_the_layout(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    run = a_fleet(tmp_path / "run", broken={(7, "grad_l2"): [204]})
    found = duckdb.sql(
        f"SELECT first_bad, rank, series FROM read_parquet('{run}/rank=*/series-*.parquet', hive_partitioning = true) "
        "WHERE bad > 0 ORDER BY ALL LIMIT 1"
    ).fetchall()
    assert found == [(204, 7, "grad_l2")]


def test_a_folder_without_sealed_series_is_told_in_words(tmp_path):
    with pytest.raises(TraceError, match="holds no sealed series"):
        broke_first(str(tmp_path))


def test_the_queries_of_the_guide_answer(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    guide = (Path(__file__).resolve().parents[4] / "docs" / "run-folder.md").read_text()
    run = a_fleet(tmp_path / "traces" / "run=a", broken={(7, "loss"): [204]})
    ops = [
        OpRow(index=at, op=op, direction="forward", nan=nan) for at, (op, nan) in enumerate((("add", 0), ("log", 3)))
    ]
    write_ops(run / "incidents" / "step-001204-rank0", ops, 2, 1)
    asked = [
        block.replace("traces/", f"{tmp_path}/traces/").replace("RUN/", f"{run}/")
        for block in re.findall(r"```sql\n(.*?)```", guide, re.DOTALL)
    ]
    bad, first, slow, around, runs = (duckdb.sql(sql.replace("'step_s'", "'loss'")).fetchall() for sql in asked)
    assert first == [(7, "loss", 204)]
    assert len(slow) == 5 and slow[0][0] == 7  # its loss ends high, where it is still large
    assert [step for step, _ in around] == list(range(200, 207)) and [value != value for _, value in around] == [
        False
    ] * 4 + [True] * 3
    assert runs == [("a", 12, 204)]
    assert bad == [(1, "log", None, None, 3, 0)]
