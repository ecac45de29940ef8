"""The remedies that `replay --with` can try on a recorded step: what they are called and what they do."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from debugtracer.docstrings import title

INTERVENTIONS = Path(__file__).resolve().parents[1] / "interventions"


@cache
def offered_remedies() -> dict[str, str]:
    """Return slug -> what is changed. Reads the files only: importing them would import torch."""
    known: dict[str, str] = {}
    for path in sorted(INTERVENTIONS.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        offline = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "offline"]
        if path.stem != "intervention" and any(not isinstance(n.body[1], ast.Raise) for n in offline):
            known[path.stem.replace("_", "-")] = title(ast.get_docstring(tree) or "")
    return known
