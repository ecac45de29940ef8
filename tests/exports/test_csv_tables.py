"""The tables are read back by the csv reader, value by value."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from debugtracer.exports.csv_tables import CsvTables
from debugtracer.testing import a_finding, a_trace
from debugtracer.trace.events import Found
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter

HOSTILE = 'a "name", with\nlines and </script> 层'


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_value_comes_back(tmp_path: Path) -> None:
    trace = open_trace(a_trace(tmp_path, Found(at=1.0, rank=1, finding=a_finding(message=HOSTILE)), ranks=2))
    read = rows(CsvTables().write(trace, tmp_path))
    for rank in (0, 1):
        mine = [row for row in read if row["rank"] == str(rank) and row["series"] == "loss"]
        assert ([int(r["step"]) for r in mine], [float(r["value"]) for r in mine]) == trace.series("loss", rank)
    (finding,) = rows(tmp_path / "findings.csv")
    assert (finding["message"], finding["check"], finding["step"]) == (HOSTILE, "numerics/nan-loss", "48")


def test_what_is_not_finite_stays_so(tmp_path: Path) -> None:
    writer = TraceWriter(create_run(tmp_path, "run-1", ["train.py"], "dev"), 0)
    for step, value in enumerate((math.nan, math.inf, -math.inf)):
        writer.point(step, {"loss": value})
    writer.close()
    read = [float(row["value"]) for row in rows(CsvTables().write(open_trace(tmp_path), tmp_path))]
    assert math.isnan(read[0]) and read[1:] == [math.inf, -math.inf]
