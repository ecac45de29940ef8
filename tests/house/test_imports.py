"""Imports go one way, and the contracts do break when somebody goes against them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(folder / "src")}
    tool = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [str(tool), "--no-cache"], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_are_kept() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("name", "text", "contract"),
    [
        ("checks/numerics/wrong.py", "import torch\n", "needs no torch"),
        ("observers/wrong.py", "import debugtracer.diagnosis\n", "Imports go one way"),
        ("helpers/__init__.py", "\n", "helpers"),
    ],
)
def test_a_wrong_import_or_a_junk_room_breaks_them(copy: Path, name: str, text: str, contract: str) -> None:
    path = copy / "src" / "debugtracer" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    done = lint(copy)
    assert done.returncode != 0
    assert contract in done.stdout
