"""Who broke first among many ranks: a thousand sealed traces made, and the question asked through pyarrow, DuckDB and
the reader, interleaved.

    python -m benchmarks.ranks [--ranks 1000] [--steps 2000] [--rounds 5]

Writes benchmarks/results/DATE-ranks.json. The files are warm: what is measured is opening, footers and the filter.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.series.blocks import series_rows
from debugtracer.trace.store.series.fleet import broke_first
from debugtracer.trace.store.series.seal import write_series

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

RESULTS = Path(__file__).parent / "results"
NAMES = ("grad_l2", "loss", "lr", "param_l2", "step_s", "wait_s", "own_s", "scale")


def make(run: Path, ranks: int, steps: int) -> tuple[int, int]:
    """The traces; two ranks break, the answer is (rank, step) of the first."""
    first, second = ranks * 2 // 3, ranks // 3
    at = steps * 3 // 4
    axis = np.arange(steps)
    generator = np.random.default_rng(0)
    for rank in range(ranks):
        tables = []
        for name in NAMES:
            values = generator.random(steps, dtype=np.float32)
            if name == "loss" and rank in (first, second):
                values[at if rank == first else at + 1 :] = np.nan
            tables.append(series_rows(name, axis, values))
        folder = run / f"rank={rank}"
        folder.mkdir(parents=True)
        write_series(folder / "series-000001.parquet", pa.concat_tables(tables))
    (run / "run.json").write_text("{}")
    return first, at


def by_duckdb(run: Path) -> tuple[int, int]:
    """SQL over the layout."""
    import duckdb

    query = (
        f"SELECT rank, first_bad FROM read_parquet('{run}/rank=*/series-*.parquet', hive_partitioning = true) WHERE "
        "bad > 0 ORDER BY first_bad LIMIT 1"
    )
    ((rank, step),) = duckdb.sql(query).fetchall()
    return int(rank), int(step)


def by_fleet(run: Path) -> tuple[int, int]:
    """`debugtracer.trace.store.series.fleet`."""
    found = broke_first(str(run))
    assert found is not None
    return found.rank, found.step


def by_reader(run: Path) -> tuple[int, int]:
    """One rank after the other."""
    found = open_trace(run).first_bad()
    assert found is not None
    return found.rank, found.step


def main() -> None:
    """Make, ask, write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    ways: dict[str, Callable[[Path], tuple[int, int]]] = {
        "fleet (pyarrow)": by_fleet,
        "duckdb": by_duckdb,
        "reader": by_reader,
    }
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        truth = make(run, args.ranks, args.steps)
        size = sum(f.stat().st_size for f in run.rglob("*.parquet"))
        took: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(args.rounds):
            for name, ask in ways.items():
                begin = time.perf_counter()
                assert ask(run) == truth, name
                took[name].append(time.perf_counter() - begin)
    result: dict[str, Any] = stamp() | {"ranks": args.ranks, "steps": args.steps, "series": len(NAMES), "bytes": size}
    result["seconds"] = {
        name: {"median": round(statistics.median(t), 3), "min": round(min(t), 3), "max": round(max(t), 3)}
        for name, t in took.items()
    }
    print(json.dumps(result, indent=1))
    (RESULTS / f"{result['date']}-ranks.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
