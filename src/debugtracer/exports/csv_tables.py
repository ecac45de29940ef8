"""Three tables that anything reads: series.csv, a value a line, findings.csv and actions.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.exports.export import Export, new_actions, series_of
from debugtracer.exports.progress import Progress
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import findings
from debugtracer.views.words.action_lines import COLUMNS


@dataclass(frozen=True)
class CsvTables(Export):
    """Comma-separated, UTF-8, with a head; what is not finite is nan, inf or -inf."""

    word: ClassVar[str] = "csv"

    def write(self, trace: Trace, folder: Path, progress: Progress | None = None) -> Path:
        """Write the tables, or add to them; return the one of the series."""
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
        with (folder / "actions.csv").open(mode, newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            if mode == "w":
                table.writerow(["rank", *COLUMNS])
            for rank in trace.ranks:
                table.writerows([rank, *line.cells] for line in new_actions(trace, rank, progress))
        return folder / "series.csv"
