"""Every check carries its page, names causes that exist and a planted fault that proves it; every default has a unit or
a source."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from debugtracer import settings
from debugtracer.causes.cause import causes
from debugtracer.checks.check import HEADINGS, Check, checks, page
from tests.each import each

ROOT = Path(__file__).resolve().parents[2]


@each("check", checks().values(), of=lambda check: check.slug)
def test_a_check_has_its_five_headings_and_resolves(check: Check) -> None:
    headings = [line for line in page(check).splitlines() if line in HEADINGS]
    assert tuple(headings) == HEADINGS
    assert set(check.suspects) <= set(causes())
    assert check.unproved or (ROOT / "faults" / check.proved_by / "train.py").is_file()


def test_every_setting_says_its_unit_or_meaning() -> None:
    names = settings.Settings.__dataclass_fields__
    fields = [line for line in inspect.getsource(settings.Settings).splitlines() if line.strip().split(":")[0] in names]
    assert len(fields) == len(names)
    # an enum explains itself
    assert [line for line in fields if "  # " not in line and not re.search(r" = (Mode|Capture)\.", line)] == []


def test_a_fragment_is_named_by_what_it_is_about() -> None:
    kinds = {"added", "changed", "fixed", "removed"}
    wrong = [
        f.name
        for f in (ROOT / "changes").iterdir()
        if f.name != "README.md" and (f.suffix != ".md" or f.stem.split(".")[-1] not in kinds)
    ]
    assert wrong == []
