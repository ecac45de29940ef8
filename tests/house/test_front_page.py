"""The front page stays two screens, its numbers and those of docs/results.md are those of the kept results,
and its commands are all there are."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from debugtracer.commands._names import names
from tests.faults.scoring import part
from tests.house.test_catalogue import LINK, headings

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MOST_BYTES = 7168  # of which two tables of measured figures
OUTSIDE = re.compile(r"\.\./shared|\bshared/")


def test_it_is_short() -> None:
    assert len(README.read_bytes()) <= MOST_BYTES, "move what is too much into a page of docs/"


def test_every_number_of_it_and_of_the_results_comes_from_a_kept_result() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "results_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_has_its_line_and_no_other() -> None:
    table = README.read_text().partition("## The commands")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([a-z]+)[ `]", table, flags=re.MULTILINE)) == sorted(names())


def test_every_link_leads_to_a_file_and_to_a_heading_of_it() -> None:
    dead = []
    for link in LINK.findall(README.read_text()):
        target, _, heading = link.partition("#")
        if not (ROOT / target).exists() or (heading and heading not in headings(ROOT / target)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize(
    "page", ["README.md", "docs/results.md", "docs/commands.md", "docs/limits.md", "docs/cost.md", "docs/install.md"]
)
def test_it_sends_nobody_to_a_folder_or_a_paper_that_is_not_here(page: str) -> None:
    assert OUTSIDE.findall((ROOT / page).read_text()) == []


def test_a_stale_page_is_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pages = part("results_page")
    front = ROOT / "README.md"
    stale = tmp_path / "README.md"
    stale.write_text(front.read_text().replace("| `just score` |", "| `just guess` |"))
    monkeypatch.setattr(pages, "FRONT", stale)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert pages.main(["--check"]) == 1
    assert capsys.readouterr().out.startswith("README.md - not what the kept results say")
    assert pages.write() == [stale]
    assert stale.read_text() == front.read_text()
