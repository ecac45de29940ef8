"""The guides in Chinese say what the English ones say: same pages, same headings in number and depth, same code, same
tables."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(page for page in (DOCS / "zh").glob("*.md") if page.name != "README.md")
GUIDES = {
    "install.md",
    "verdict.md",
    "trouble.md",
    "loops.md",
    "devices.md",
    "cost.md",
    "logs.md",
    "run-folder.md",
    "responses.md",
    "page.md",
    "monitoring.md",
}
"""What a user reads; the rest is for those who change the code, and English."""
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HAN = re.compile(r"[\u4e00-\u9fff]")


def prose(page: Path) -> str:
    """The page without its blocks of code."""
    return CODE.sub("", page.read_text())


def shape(page: Path) -> list[str]:
    """Headings by depth and rows of tables by number of columns, in order."""
    kept = [line for line in prose(page).splitlines() if line.startswith(("#", "|"))]
    return [line.split()[0] if line[0] == "#" else str(line.replace("\\|", "").count("|")) for line in kept]


def test_every_guide_for_users_is_there() -> None:
    assert {page.name for page in PAGES} >= GUIDES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_an_english_one_with_the_same_code_headings_and_tables(page: Path) -> None:
    english = DOCS / page.name
    assert english.is_file()
    assert CODE.findall(page.read_text()) == CODE.findall(english.read_text())
    assert shape(page) == shape(english)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_paragraph_was_left_in_english(page: Path) -> None:
    left = [
        line
        for line in re.sub(r"`[^`]*`", "", prose(page)).splitlines()
        if len(line.split()) > 12 and not HAN.search(line)
    ]
    assert left == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_setting_of_the_english_page_is_named(page: Path) -> None:
    """A word in code that is new in one language is missing in the other."""
    words = re.compile(r"`(--[\w-]+|DEBUG_TRACER\w*|debug-tracer \w+)")
    assert set(words.findall(prose(page))) == set(words.findall(prose(DOCS / page.name)))
