"""What is generated about checks and faults is fresh, and every link of the guides leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_the_pages_of_the_checks_and_the_gallery_are_fresh() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "catalogue.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_of_it(guide: Path) -> None:
    dead = []
    for link in LINK.findall(guide.read_text()):
        target, _, heading = link.partition("#")
        if "://" in target:
            continue
        file = (guide.parent / target).resolve() if target else guide
        if not file.exists() or (heading and heading not in headings(file)):
            dead.append(link)
    assert dead == []


def headings(file: Path) -> set[str]:
    """The anchors that GitHub makes of the headings of a page."""
    titles = re.findall(r"^#+ (.+)$", file.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
