"""What is generated about checks and faults is fresh, and every link of the guides leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.each import each

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_the_pages_of_the_checks_and_the_gallery_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "catalogue.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@each("guide", GUIDES, of=lambda path: path.relative_to(ROOT))
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
    """The anchors of a page: its own, and those that GitHub makes of its headings."""
    titles = re.findall(r"^#+ (.+)$", file.read_text(), flags=re.MULTILINE)
    return set(re.findall(r'<a id="([^"]+)"></a>', file.read_text())) | {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


def test_a_fault_is_quoted_with_the_finding_that_names_it_and_with_no_other() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    from catalogue import TEMPORARY, sentence

    spike = {"check": "optimizer/loss-spike", "severity": "warning", "kind": "loss_spike", "message": "a spike"}
    noted = {"check": "logging/average-hides", "severity": "note", "kind": None, "message": "the mean hides it"}
    verdict = {"class": "loss_spike", "summary": "a spike"}
    truth = {"class": "log_average_hides", "note": "logging/average-hides"}
    assert sentence({"verdict": verdict, "findings": [spike, noted]}, truth) == "the mean hides it"
    assert sentence({"verdict": None, "findings": [spike]}, truth) is None
    assert sentence({"verdict": verdict, "findings": [spike]}, {"class": "lr_too_high"}) == "a spike"
    assert (
        sentence(
            {"verdict": verdict, "findings": [{**spike, "kind": "lr_too_high", "message": "the rate"}]},
            {"class": "lr_too_high"},
        )
        == "the rate"
    )
    assert TEMPORARY.sub("", f"of {tempfile.gettempdir()}/tmp1h76/deep/mirror.pt, loaded") == "of mirror.pt, loaded"
