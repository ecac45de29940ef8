"""The parts of the scoreboard (scripts/*.py), and rows for its tests."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def part(name: str) -> Any:
    """One file of scripts/ as a module."""
    if str(ROOT / "scripts") not in sys.path:
        sys.path.append(str(ROOT / "scripts"))
    return importlib.import_module(name)


def row(
    name: str = "numerics/a", kind: str = "zero_division", marks: dict[str, bool] | None = None, **said: Any
) -> Any:
    """One row of the board; the verdict is `got`, likely, 0.8 sure where only a class is given."""
    if said.get("got"):
        said = {"status": "likely", "confidence": 0.8} | said
    layer, symptom = said.pop("layer", "numerics"), said.pop("symptom", "nan_loss")
    return part("marks").Row(script=name, kind=kind, layer=layer, symptom=symptom, marks=marks or {}, **said)


def healthy(name: str = "numerics/a (healthy)", quiet: bool = True, **said: Any) -> Any:
    """A healthy script."""
    return row(name, "healthy", {"quiet": quiet}, layer="none", symptom="none", **said)
