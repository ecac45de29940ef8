"""The table of rules names checks that exist, and every rule of the founders' catalogue has a row."""

from __future__ import annotations

import re
from pathlib import Path

from debugtracer.checks.check import checks
from debugtracer.trace.finding import LAYERS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "rules.md").read_text()


def test_every_check_that_is_named_exists() -> None:
    named = set(re.findall(rf"\b(?:{'|'.join(LAYERS)})/[a-z-]+", TEXT))
    assert named - set(checks()) == set()
    assert len(named) > 80


def test_every_rule_of_the_catalogue_has_a_row(shared_cases: Path) -> None:
    catalogue = shared_cases.parent / "CHECKS.md"
    rules = set(re.findall(r"^\| ((?:data|model|opt|loss|dev|num|log|rb)_\w+) \(P", catalogue.read_text(), re.MULTILINE))
    assert len(rules) > 80
    assert {rule for rule in rules if rule not in TEXT} == set()
