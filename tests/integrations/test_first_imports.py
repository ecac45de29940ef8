"""What is frozen at the start: imports, and nothing that a program may drop again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debugtracer.integrations.first_imports import FEW, imports_alone, is_small

TELLS = "import gc; print(gc.get_freeze_count() > 0, gc.isenabled())\n"


@pytest.mark.parametrize(
    ("program", "frozen"),
    [
        ("import os, json\nNAME, SIZES = 'a', [1, 2]\nimport torch\n", True),
        (f"rows = list(range({FEW + 1}))\nimport torch\n", False),
        ("def later():\n    import torch\nlater()\n", False),
        ("import gc\ngc.freeze()\nimport torch\ngc.unfreeze()\n", False),
        ("import torch\nimport gc\ngc.unfreeze()\n", False),
    ],
)
def test_what_a_program_has_imported_alone_stays_frozen(tmp_path: Path, program: str, frozen: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(program + TELLS)
    environment = os.environ | {"DEBUG_TRACER": "1", "DEBUG_TRACER_OUT": str(tmp_path / "runs")}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.stdout == f"{frozen} True\n", done.stderr


def test_a_call_of_the_program_is_more_than_an_import() -> None:
    assert not imports_alone()


class Frame:
    """As a table of data would be."""


Frame.__module__ = "pandas.core.frame"


@pytest.mark.parametrize(
    ("value", "small"),
    [(os, True), (print, True), (Frame, True), ({"lr": 0.1}, True), (Path("a"), True), (Frame(), False)],
)
def test_what_a_module_may_hold(value: Any, small: bool) -> None:
    assert is_small(("name", value)) is small
    assert is_small(("__spec__", value))
