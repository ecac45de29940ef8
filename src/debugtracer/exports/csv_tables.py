"""Two tables that anything reads: series.csv, a value a line, and findings.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.exports.export import Export, series_of
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings


@dataclass(frozen=True)
class CsvTables(Export):
    """Comma-separated, UTF-8, with a head; what is not finite is nan, inf or -inf."""

    word: ClassVar[str] = "csv"

    def write(self, trace: Trace, folder: Path) -> Path:
        """Write both tables; return the one of the series."""
        with (folder / "series.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["rank", "series", "step", "value"])
            for rank in trace.ranks:
                for name, steps, values in series_of(trace, rank):
                    table.writerows([rank, name, *point] for point in zip(steps, values, strict=True))
        with (folder / "findings.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["rank", "step", "severity", "check", "message"])
            table.writerows([f.rank, f.step, f.severity, f.check, f.message] for f in findings(trace))
        return folder / "series.csv"
