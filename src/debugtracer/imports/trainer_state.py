"""The `trainer_state.json` that the Hugging Face Trainer writes into each checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from debugtracer.errors import TraceError
from debugtracer.imports.importer import Importer, Log, numbered

NAME = "trainer_state.json"


@dataclass(frozen=True)
class TrainerStateJson(Importer):
    """`log_history`: one object a logging step, with `step` and what was logged there."""

    format: ClassVar[str] = f"Hugging Face {NAME}"

    def recognises(self, path: Path) -> bool:
        """True for the file itself, its checkpoint, or the output folder that holds checkpoints."""
        return path.suffix == ".json" if path.is_file() else state_file(path) is not None

    def read(self, path: Path) -> Log:
        """The history of the file, of the checkpoint, or of the last checkpoint of an output folder."""
        file = path if path.is_file() else state_file(path) or path / NAME
        return self.log(file, entries(history(file)))


def state_file(folder: Path) -> Path | None:
    """The state in a folder; of an output folder without one that of its last checkpoint."""
    if (folder / NAME).is_file():
        return folder / NAME
    found = sorted((p.parent for p in folder.glob(f"checkpoint-*/{NAME}")), key=numbered)
    return found[-1] / NAME if found else None


def history(file: Path) -> list[Any]:
    """Read the `log_history` of a file. Raises TraceError."""
    try:
        state = json.loads(file.read_bytes())
    except OSError as error:
        raise TraceError(f"{file} cannot be read ({error.strerror}); check that you may read it.") from None
    except (ValueError, RecursionError) as error:
        raise TraceError(
            f"{file} is damaged ({error}); expected the {NAME} of a checkpoint of the Hugging Face Trainer."
        ) from None
    told = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(told, list):
        raise TraceError(f"{file} has no log_history; expected the {NAME} of a checkpoint of the Hugging Face Trainer.")
    return told


def entries(told: list[Any]) -> Iterator[tuple[int, str, float]]:
    """Every number of the history with its step; the closing entry of a run holds means of the whole run and is left
    out."""
    for entry in told:
        if not isinstance(entry, dict) or not isinstance(entry.get("step"), int) or "train_runtime" in entry:
            continue
        for name, value in entry.items():
            if (
                name != "step"
                and isinstance(value, int | float)
                and not isinstance(value, bool)
                and not (isinstance(value, int) and value.bit_length() > 1000)
            ):
                yield entry["step"], name, float(value)
