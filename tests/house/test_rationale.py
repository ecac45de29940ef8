"""What the repository cites lies in it: every cited anchor exists, and no paper from outside is cited by its
section."""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {page.stem: page.read_text() for page in (ROOT / "docs" / "rationale").glob("*.md")}
CITED = re.compile(r"docs/rationale/([\w-]+)\.md#([\w-]+)")
HALF = re.compile(r"docs/rationale/[\w-]+\.md(?!#)")
PAPER = re.compile(
    r"\b(?:DESIGN|CHECKS|PERFORMANCE|FEASIBILITY|PEERS|STYLE|ECOSYSTEM)\b|\bS[0-4] (?:chapter )?\d|\bseeds?/00\d"
)
OUTSIDE = re.compile(r"\.\./shared\b|/ \"shared\"|DEBUG_TRACER_SHARED|/work/shared")
CASE_TESTS = {  # the reconstructions lie beside the repository: what watches and marks them knows where
    "README.md",
    "scripts/case_tests.py",
    "scripts/marks.py",
    "scripts/score.py",
    "scripts/truths.py",
    "tests/conftest.py",
    "tests/faults/test_bitwise.py",
    "tests/faults/test_verdicts.py",
    "tests/house/test_front_page.py",
}
MINE = "tests/house/test_rationale.py"


def files(*folders: str) -> list[str]:
    """Text files that git knows, or will know, below these folders."""
    asked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kinds = {".py", ".md", ".toml", ".json", ".sh", ".yml", ""}
    return [
        name
        for name in asked.stdout.splitlines()
        if Path(name).suffix in kinds and name != MINE and (ROOT / name).is_file()
    ]


def prose(name: str) -> str:
    """What a file says to its reader: comments and strings of Python, all of any other file."""
    text = (ROOT / name).read_text()
    if not name.endswith(".py"):
        return text
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))


def says(name: str, pattern: re.Pattern[str]) -> bool:
    """Whether comments and strings of a file hold it; most files do not even hold it anywhere, and are not parsed."""
    return bool(pattern.search((ROOT / name).read_text()) and pattern.search(prose(name)))


def test_every_cited_anchor_exists() -> None:
    cited = {(page, anchor): name for name in files() for page, anchor in CITED.findall((ROOT / name).read_text())}
    assert len(cited) > 60
    assert [
        f"{name}: {page}.md#{anchor}"
        for (page, anchor), name in cited.items()
        if f'<a id="{anchor}"></a>' not in PAGES.get(page, "")
    ] == []


def test_source_cites_a_section_and_not_a_whole_page() -> None:
    assert [
        name
        for name in files("src", "tests", "scripts", "benchmarks", "faults")
        if says(name, HALF) and name != "tests/house/test_rules.py"
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_an_anchor_stands_once(page: str) -> None:
    anchors = re.findall(r'<a id="([^"]+)"></a>', PAGES[page])
    assert sorted(set(anchors)) == sorted(anchors)


def test_no_paper_from_outside_is_cited() -> None:
    assert [name for name in files() if says(name, PAPER)] == []


def test_only_the_tests_of_the_cases_know_a_folder_outside() -> None:
    assert [name for name in files() if name not in CASE_TESTS and OUTSIDE.search((ROOT / name).read_text())] == []


def test_pages_for_users_do_not_cite_the_rationale() -> None:
    for_others = ("docs/rationale/", "docs/decisions/", "docs/rules.md")
    pages = [name for name in files("docs", "README.md") if name.endswith(".md") and not name.startswith(for_others)]
    assert len(pages) > 200
    assert [name for name in pages if "rationale/" in (ROOT / name).read_text()] == []
