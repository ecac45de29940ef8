"""The tree is the one that docs/tree.md shows, and every file of it says what it is for, stays small and has its
test."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from debugtracer.docstrings import title
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "debugtracer"
FILES = sorted(PACKAGE.rglob("*.py"))
JUNK = {"utils", "util", "common", "core", "helpers", "misc"}
LINES, FUNCTION_LINES = 300, 60


def of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def test_the_tree_in_the_page_is_the_real_one() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "tree.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_no_room_or_file_is_a_junk_room() -> None:
    assert not [of(f) for f in FILES if JUNK & {*f.relative_to(PACKAGE).parts, f.stem}]


@each("path", FILES, of=of)
def test_a_file_says_what_it_is_for_and_is_short(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source)
    said = ast.get_docstring(tree)
    assert said, "no module docstring"
    assert title(said).endswith((".", "?")), "its first paragraph is not a sentence"
    assert source.count("\n") <= LINES
    functions = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    long = {
        f.name: f.end_lineno - f.lineno + 1
        for f in functions
        if f.end_lineno is not None and f.end_lineno - f.lineno >= FUNCTION_LINES
    }
    assert not long, f"functions over {FUNCTION_LINES} lines"


@each("path", [f for f in FILES if not f.name.startswith("__")], of=of)
def test_a_file_has_its_test(path: Path) -> None:
    mirror = ROOT / "tests" / path.parent.relative_to(PACKAGE) / f"test_{path.stem}.py"
    assert mirror.exists(), f"expected {mirror.relative_to(ROOT)}"
