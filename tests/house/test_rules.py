"""The table of rules names checks that exist, and every rule of the catalogue has a row."""

from __future__ import annotations

import re
from pathlib import Path

from debugtracer.checks.check import checks
from debugtracer.trace.finding import LAYERS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "rules.md").read_text()
CATALOGUE = (ROOT / "docs" / "rationale" / "checks.md").read_text()
RULE = r"(?:data|model|opt|loss|dev|num|log|rb)_\w+"


def test_every_check_that_is_named_exists() -> None:
    named = set(re.findall(rf"\b(?:{'|'.join(LAYERS)})/[a-z-]+", TEXT))
    assert named - set(checks()) == set()
    assert len(named) > 80


def test_every_rule_of_the_catalogue_has_a_row_and_every_row_is_a_rule() -> None:
    rules = set(re.findall(rf'^\| <a id="({RULE})"></a>\1 \(P', CATALOGUE, re.MULTILINE))
    rows = {
        rule
        for line in TEXT.splitlines()
        if line.startswith("| ")
        for rule in re.findall(rf"\b{RULE}", line.split("|")[1])
    }
    assert len(rules) > 110
    assert rules == rows
