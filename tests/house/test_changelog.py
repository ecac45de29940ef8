"""The changelog is made of the fragments, each sentence of them once, and made again it is the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("pyproject.toml", "CHANGELOG.md", "scripts/changelog.py", "scripts/changelog.md.jinja"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "README.md").write_text("# What is new\n")
    (tmp_path / "changes" / "first-subject.added.md").write_text("Something is there.\nAnd `more` of it.\n")
    (tmp_path / "changes" / "second-subject.fixed.md").write_text("- Something works.\n")
    return tmp_path


def made(tree: Path, *options: str) -> str:
    subprocess.run(
        [sys.executable, str(tree / "scripts" / "changelog.py"), *options], cwd=tree, check=True, capture_output=True
    )
    return (tree / "CHANGELOG.md").read_text()


def section(page: str) -> list[str]:
    return [line for line in page.partition("\n## ")[2].partition("\n## ")[0].splitlines() if line]


def test_each_sentence_is_an_entry_under_its_kind_and_the_fragments_stay(tree: Path) -> None:
    page = made(tree)
    assert section(page)[1:] == [
        "### Added",
        "- Something is there.",
        "- And `more` of it.",
        "### Fixed",
        "- Something works.",
    ]
    assert section(page)[0].endswith("(unreleased)")
    assert made(tree) == page
    assert len(list((tree / "changes").iterdir())) == 3


def test_a_release_deletes_the_fragments_and_is_not_made_twice(tree: Path) -> None:
    page = made(tree, "--released")
    assert "unreleased" not in section(page)[0]
    assert [left.name for left in (tree / "changes").iterdir()] == ["README.md"]
    again = subprocess.run(
        [sys.executable, str(tree / "scripts" / "changelog.py")], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "raise `version`" in again.stderr
    assert (tree / "CHANGELOG.md").read_text() == page
