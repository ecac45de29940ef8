"""Writes what the kept results say: sections of docs/results.md, docs/responses.md and docs/cost.md, and the tables of
README.md.

    python scripts/results_page.py --write    from the newest result of each kind in benchmarks/results/
    python scripts/results_page.py --check    status 1 and the names of the pages that are stale

Whatever measures (score.py, loops.py, false_alarms.py, `just bench`) only keeps rows; every number of the two pages is
made here from kept rows."""

from __future__ import annotations

import sys
from pathlib import Path

import beside_peers
import budget_table
import front_table
import program_costs
import sections
from board import board
from kept import newest, newest_of_each
from results import newest_rows
from row_tables import with_section
from stamp import ROOT

RESULTS, FRONT = ROOT / "docs" / "results.md", ROOT / "README.md"
COSTS = {ROOT / "docs" / "cost.md": "en", ROOT / "docs" / "zh" / "cost.md": "zh"}
ANSWERS = {ROOT / "docs" / "responses.md": "en", ROOT / "docs" / "zh" / "responses.md": "zh"}


def pages() -> dict[Path, str]:
    """All pages as they must be."""
    made = {
        "score": board(newest_rows()),
        "loops": sections.loops(newest("loops")),
        "false-alarms": sections.false_alarms(newest("false-alarms")),
        "cost": sections.overhead(newest_of_each("overhead")),
        "judging": sections.judging(newest("judging")),
        "fresh-faults": sections.fresh_faults(newest("fresh-faults")),
        "traincheck": sections.traincheck(newest("traincheck")),
        "peers-beside": beside_peers.peers_beside(newest("peers-beside")),
        "other-programs": sections.other_programs(newest("other-programs")),
    }
    text = RESULTS.read_text()
    for name, section in made.items():
        text = with_section(text, name, section)
    seen, cost = newest("responses"), newest("snapshots")
    answers = {
        page: with_section(
            with_section(page.read_text(), "seen", sections.responses(seen, language)),
            "snapshots",
            sections.snapshots(cost, language),
        )
        for page, language in ANSWERS.items()
    }
    programs, longer, rest = newest("programs-long"), newest("programs-minutes"), newest("programs-at-rest")
    paid = {}
    for page, language in COSTS.items():
        paid[page] = with_section(page.read_text(), "programs", program_costs.programs(programs, language))
        paid[page] = with_section(paid[page], "minutes", program_costs.minutes(longer, language))
        paid[page] = with_section(paid[page], "at-rest", program_costs.at_rest(rest, language))
    front = with_section(FRONT.read_text(), "numbers", front_table.table())
    costs = budget_table.budget(newest("steps"), newest("inspected"), newest("start"))
    return {RESULTS: text, FRONT: with_section(front, "budget", costs), **answers, **paid}


def write() -> list[Path]:
    """Write the pages that are stale, and give them."""
    stale = {page: text for page, text in pages().items() if page.read_text() != text}
    for page, text in stale.items():
        page.write_text(text)
    return list(stale)


def main(arguments: list[str]) -> int:
    """Write or check; the status is 1 when a page is stale."""
    if "--write" in arguments:
        write()
        return 0
    stale = [page for page, text in pages().items() if page.read_text() != text]
    for page in stale:
        print(
            f"{page.relative_to(ROOT)} - not what the kept results say - run `python scripts/results_page.py --write`"
        )
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
