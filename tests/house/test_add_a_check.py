"""The guide "add a check in ten minutes" works as it stands: its files, put into a copy of the repository, pass the
tests there."""

from __future__ import annotations

import filecmp
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "add-a-check.md").read_text()
FILE = re.compile(r"^### `([^`]+)`\n+[^`#]*?(?:`[^`\n]+`[^`#]*?)*\n+```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^```bash\n((?:python scripts/.+\n)+)```$", re.MULTILINE)
MADE = re.compile(r"^```text\n((?:[\w./-]+\.\w+\n)+)```$", re.MULTILINE)
FILES: dict[str, str] = dict(FILE.findall(GUIDE))
(FAULT,) = {Path(path).parent for path in FILES if path.startswith("faults/")}
LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "debug-tracer-runs", "dist", "*.egg-info", "benchmarks", "healthy"
)
TESTS = (
    "tests/house/test_tree.py",
    "tests/house/test_catalogue.py",
    "tests/house/test_prose.py",
    "tests/house/test_plugins_are_documented.py",
    "tests/faults/test_planted_faults.py",
)
WHOLE = (
    "test_the_tree_in_the_page_is_the_real_one",
    "gallery_are_fresh",
    "test_the_table_of_the_readme_is_fresh",
    "test_a_fragment_is_named",
)
"""Tests that look at the repository as a whole; of all others those run that are about a file of the guide."""
LINKED = ("benchmarks", "healthy")
"""Folders that pages lead to and nothing of this is about."""


class House:
    """A copy of the repository with the files of the guide in it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "house"
        shutil.copytree(ROOT, self.root, ignore=LEFT_OUT)
        for name in LINKED:
            (self.root / name).symlink_to(ROOT / name)
        for path, text in FILES.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        self.environ = {
            **os.environ,
            "PYTHONPATH": str(self.root / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "DEBUG_TRACER_STRICT": "1",
        }

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of Python in the copy."""
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done

    def changed(self) -> set[str]:
        """Files of the copy that are new, or other than those of the repository."""
        own = {path.relative_to(self.root) for path in self.root.rglob("*") if path.is_file()}
        return {
            str(path)
            for path in own
            if not (ROOT / path).is_file() or not filecmp.cmp(self.root / path, ROOT / path, shallow=False)
        }


def test_the_guide_shows_as_many_files_as_it_says() -> None:
    assert "| a quantity that nobody reads yet, as below | 3 | 3 | 3 |" in GUIDE
    rooms = [path.split("/")[0] for path in FILES]
    assert [rooms.count(room) for room in ("src", "tests", "faults", "changes")] == [3, 3, 3, 1]


@pytest.mark.sweep
def test_its_files_put_into_a_copy_work_there(tmp_path: Path) -> None:
    """One test, because the copy is dear: what is generated, the tests of the copy, the fault and its twin."""
    house = House(tmp_path)
    (commands,) = COMMANDS.findall(GUIDE)
    for command in commands.splitlines():
        house.python(*shlex.split(command)[1:])
    (made,) = MADE.findall(GUIDE)
    assert house.changed() - set(FILES) == set(made.split())
    pass_tests(house)
    pass_style(house)
    said = json.loads((house.root / "docs" / "verdicts.json").read_text())[str(FAULT.relative_to("faults"))]
    assert "Adam has betas (0.999, 0.9)" in said
    assert loud(house, "healthy.py", tmp_path / "runs") == []


def pass_tests(house: House) -> None:
    """The tests of the example, and those of the tree, the catalogue and the documentation that are about it."""
    own = [path for path in FILES if path.startswith("tests/")]
    about = " or ".join([*WHOLE, *{Path(path).stem for path in FILES if path.startswith("src/")}, FAULT.name])
    done = house.python("-m", "pytest", "-vv", "-x", "-n", "0", "-p", "no:cacheprovider", *own, *TESTS, "-k", about)
    sources = [path.removeprefix("src/debugtracer/") for path in FILES if path.startswith("src/")]
    for name in [
        *WHOLE,
        *(f"test_a_file_has_its_test[{path}]" for path in sources),
        f"test_the_folder_is_whole[{FAULT.name}]",
        *own,
    ]:
        assert re.search(re.escape(name) + ".* PASSED", done.stdout), name


def pass_style(house: House) -> None:
    """As `just check` asks it."""
    ruff = Path(sys.executable).parent / "ruff"
    for words in (("check",), ("format", "--check")):
        subprocess.run(
            [ruff, *words, "--no-cache", *(path for path in FILES if path.endswith(".py"))], cwd=house.root, check=True
        )


def loud(house: House, script: str, out: Path) -> list[str]:
    """The checks with more than a note to say of a script of the fault."""
    house.python("-m", "debugtracer", "run", "--out", str(out), str(FAULT / script))
    found = json.loads(house.python("-m", "debugtracer", "report", str(out), "--format", "json").stdout)["findings"]
    return [finding["check"] for finding in found if finding["severity"] != "note"]
