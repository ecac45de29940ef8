"""The `metrics.csv` of Lightning's CSVLogger, and any other CSV file with a column that counts steps."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debugtracer.errors import TraceError
from debugtracer.imports.importer import Importer, Log, numbered

NAME = "metrics.csv"
COUNTERS = ("step", "global_step", "iteration", "iter", "epoch")  # the column that counts, the finest first


@dataclass(frozen=True)
class LightningCsv(Importer):
    """One row a logging call, one column a name; most cells of a row are empty."""

    format: ClassVar[str] = f"CSV log such as Lightning's {NAME}"

    def recognises(self, path: Path) -> bool:
        """True for the file, its version folder, or the folder of versions (`lightning_logs`)."""
        return path.suffix == ".csv" if path.is_file() else metrics_file(path) is not None

    def read(self, path: Path) -> Log:
        """The table of the file, of the version, or of the last version of a folder of versions."""
        file = path if path.is_file() else metrics_file(path) or path / NAME
        try:
            with file.open(newline="", encoding="utf-8-sig") as text:
                return self.log(file, cells(file, csv.DictReader(text)))
        except OSError as error:
            raise TraceError(f"{file} cannot be read ({error.strerror}); check that you may read it.") from None
        except (csv.Error, UnicodeDecodeError) as error:
            raise TraceError(
                f"{file} is no CSV file ({error}); expected a table with a line of names, one of them `step`."
            ) from None


def metrics_file(folder: Path) -> Path | None:
    """The table in a folder; of a folder of versions that of the last one."""
    if (folder / NAME).is_file():
        return folder / NAME
    for pattern in (f"version_*/{NAME}", f"lightning_logs/version_*/{NAME}"):
        found = sorted((p.parent for p in folder.glob(pattern)), key=numbered)
        if found:
            return found[-1] / NAME
    return None


def cells(file: Path, table: csv.DictReader[str]) -> Iterator[tuple[int, str, float]]:
    """Every number of the table with its step. Raises TraceError if no column counts steps."""
    names = [name for name in table.fieldnames or [] if name]
    counter = next((name for word in COUNTERS for name in names if name.strip().lower() == word), None)
    if counter is None:
        raise TraceError(
            f"{file} has no column that counts steps; expected one named {', '.join(COUNTERS[:-1])} or {COUNTERS[-1]}."
        )
    for row in table:
        step = number(row.get(counter))
        if step is None or not math.isfinite(step):
            continue
        for name in names:
            value = number(row.get(name)) if name != counter else None
            if value is not None:
                yield int(step), name.strip(), value


def number(cell: str | None) -> float | None:
    """The number in a cell; None for words and empty ones."""
    try:
        return float(cell) if cell else None
    except ValueError:
        return None
