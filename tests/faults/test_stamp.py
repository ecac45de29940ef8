"""A kept result names the commit of the code that was measured, and says where it does not know it."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

import pytest

from tests.faults.scoring import part

stamp = part("stamp")
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("a = 1\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True)
    return tmp_path


def head(checkout: Path) -> str:
    return subprocess.run(
        ["git", "rev-parse", "--short=7", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_commit_of_a_clean_checkout_is_its_head(checkout: Path) -> None:
    assert stamp.commit.__wrapped__(checkout) == head(checkout)


def test_changed_source_is_said_and_a_changed_page_is_not(checkout: Path) -> None:
    (checkout / "README.md").write_text("a page\n")
    assert stamp.commit.__wrapped__(checkout) == head(checkout)
    (checkout / "src" / "a.py").write_text("a = 2\n")
    assert stamp.commit.__wrapped__(checkout) == f"{head(checkout)}-dirty"


def test_without_git_the_commit_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stamp.commit.__wrapped__(tmp_path) == "unknown"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert stamp.commit.__wrapped__(tmp_path) == "unknown"


def test_a_stamp_is_of_today() -> None:
    assert stamp.stamp() == {"date": datetime.date.today().isoformat(), "commit": stamp.commit()}


@pytest.mark.parametrize(
    ("stamps", "said"),
    [
        ({("2026-11-22", "551e86f")}, "2026-11-22 at 551e86f"),
        ({("2026-11-22", "551e86f"), ("2026-11-22", "2dbca09")}, "2026-11-22 at 2dbca09 and 551e86f"),
        ({("2026-11-22", "551e86f"), ("2026-11-21", "f1e441a")}, "2026-11-21 at f1e441a; 2026-11-22 at 551e86f"),
        ({("2026-11-22", "unknown"), ("2026-11-22", "551e86f")}, "2026-11-22 at 551e86f, commit unknown"),
        ({("2026-11-22", "unknown")}, "2026-11-22, commit unknown"),
        ({("", "unknown")}, "date unknown, commit unknown"),
    ],
)
def test_days_and_commits_are_all_named(stamps: set[tuple[str, str]], said: str) -> None:
    assert stamp.measured(stamps) == said
