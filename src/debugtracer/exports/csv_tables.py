"""Two tables that anything reads: series.csv, a value a line, and findings.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.exports.export import Export, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings


@dataclass(frozen=True)
class CsvTables(Export):
    """Comma-separated, UTF-8, with a head; what is not finite is nan, inf or -inf."""

    word: ClassVar[str] = "csv"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write both tables, or add to them; return the one of the series."""
        progress = progress or Progress()
        mode = "a" if progress.rounds else "w"
        with (folder / "series.csv").open(mode, newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            if mode == "w":
                table.writerow(["rank", "series", "step", "value"])
            for rank in trace.ranks:
                for name, steps, values in series_of(trace, rank, progress):
                    table.writerows([rank, name, *point] for point in zip(steps, values, strict=True))
        with (folder / "findings.csv").open(mode, newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            if mode == "w":
                table.writerow(["rank", "step", "severity", "check", "message"])
            new = findings(trace)[progress.findings :]
            table.writerows([f.rank, f.step, f.severity, f.check, f.message] for f in new)
        return folder / "series.csv"
