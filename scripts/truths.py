"""What is watched by the scoreboard, and what its verdict must be: planted faults with their twins, the case tests, the
plants of faults/programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from case_tests import CASES
from plants import plants, programs

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "faults"
HEALTHY: dict[str, Any] = {
    "class": "healthy",
    "layer": "none",
    "symptom": "none",
    "first_bad_step": None,
    "op": None,
    "line": None,
    "sample_index": None,
}
DEVELOPMENT = frozenset({"mlp_tabular", "cnn_images", "rnn_chars", "gpt_chars", "vit_patches", "autoencoder"})
"""Programs that rules and numbers were tuned on from the start. The others were held out until 2026-11-27 (commit
f73c94c); since then they are tuned on as well and keep a line of their own."""
PLANTED, SHARED_CASES, LEARNT, HELD_OUT = "Planted faults", "Cases", "Development programs", "Held-out programs"
NAMES = {
    PLANTED: "Planted faults (`faults`)",
    SHARED_CASES: "Reconstructions of reported failures (the case tests)",
    LEARNT: "Development programs (`faults/programs`)",
    HELD_OUT: "Programs held out until 2026-11-27 (`faults/programs`)",
}


@dataclass(frozen=True)
class Script:
    """One program to watch: where it lies, which file of the folder is the program, and what the verdict must be."""

    name: str
    folder: Path
    file: str
    truth: dict[str, Any]
    source: str | None = None
    """The text of the program where it is made, else None: `file` as it stands."""

    @property
    def is_healthy(self) -> bool:
        """Whether silence is the right answer."""
        return bool(self.truth["class"] == "healthy")


def planted(faults: Path = FAULTS) -> Iterator[Script]:
    """Every planted fault, and after it its healthy twin."""
    for truth_file in sorted(faults.glob("*/*/truth.json")):
        folder = truth_file.parent
        name = f"{folder.parent.name}/{folder.name}"
        yield Script(name, folder, "train.py", json.loads(truth_file.read_text()))
        yield Script(f"{name} (healthy)", folder, "healthy.py", HEALTHY)


def cases(folder: Path = CASES) -> Iterator[Script]:
    """Every case test; none where their folder is missing."""
    for truth_file in sorted(folder.glob("*/truth.json")):
        yield Script(truth_file.parent.name, truth_file.parent, "train.py", json.loads(truth_file.read_text()))


def whole_programs() -> Iterator[Script]:
    """Every plant of every program of faults/programs, and after them the program itself, on which silence is the right
    answer."""
    for folder in programs():
        for plant in plants(folder):
            yield Script(plant.name, folder, "train.py", plant.truth(), plant.source())
        yield Script(f"{folder.name} (healthy)", folder, "train.py", HEALTHY)


def is_held_out(script: Script) -> bool:
    """Whether it belongs to a program that nothing was learnt from until 2026-11-27."""
    return script.folder.name not in DEVELOPMENT


def of_group(title: str) -> list[Script]:
    """The scripts of one line of the board; programs apart by what may be learnt from them."""
    if title == PLANTED:
        return list(planted())
    if title == SHARED_CASES:
        return list(cases())
    return [script for script in whole_programs() if is_held_out(script) == (title == HELD_OUT)]


def is_wanted(name: str, wanted: list[str]) -> bool:
    """Whether a name, or the end of one, or the folder before its slash was asked for."""
    plain = name.removesuffix(" (healthy)")
    return plain.endswith(tuple(wanted)) or plain.partition("/")[0] in wanted
