"""Stored cases of checks are judged as they were: at each limit, above and below it, and with each guard alone.

    python -m tests.checks.test_cases --write [SLUG ...]   keeps what the checks answer today

A case is what a check is shown and what it answers, without its words (tests/checks/cases/README.md). One that is
answered otherwise on purpose is written again; look at the difference before you commit it."""

from __future__ import annotations

import json
import sys

from debugtracer.checks.check import checks
from tests.calls import same
from tests.checks.cases import FOLDER, Cases
from tests.each import each

KNOWN = [slug for slug in checks() if Cases(slug).path.exists()]


@each("slug", KNOWN)
def test_a_stored_case_is_answered_as_before(slug: str) -> None:
    for line, got in Cases(slug).load().answered(checks()[slug]):
        want = {name: line[name] for name in ("found", "closest") if name in line}
        assert same(want, got), (
            f"{json.dumps(line)[:1500]}\nanswers {json.dumps(got)[:1500]}\n"
            f"meant? python -m tests.checks.test_cases --write {slug}"
        )


def test_every_file_of_cases_is_of_a_check_that_there_is() -> None:
    assert set(FOLDER.rglob("*.json")) == {Cases(slug).path for slug in KNOWN}


def write(slugs: list[str]) -> None:
    """Keep what the checks answer today."""
    for slug in slugs or KNOWN:
        cases = Cases(slug).load()
        cases.lines = [
            {name: line[name] for name in ("options", "calls") if name in line} | got
            for line, got in cases.answered(checks()[slug])
        ]
        cases.save()


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    write(sys.argv[2:])
