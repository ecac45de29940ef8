"""The folder is the registry."""

from __future__ import annotations

import debugtracer.causes
import debugtracer.checks
from debugtracer.causes.cause import Cause
from debugtracer.checks.check import Check
from debugtracer.plugins import members, slug_of


def test_a_slug_is_the_path_below_the_package_with_dashes():
    assert slug_of("debugtracer.checks.numerics.nan_loss", "debugtracer.checks") == "numerics/nan-loss"


def test_every_member_is_named_after_its_file():
    for package, contract in ((debugtracer.checks, Check), (debugtracer.causes, Cause)):
        for slug, member in members(package, contract).items():
            words = slug.split("/")[-1].split("-")
            assert type(member).__name__ == "".join(w.capitalize() for w in words)


def test_the_contract_itself_and_imported_classes_are_no_members():
    found = members(debugtracer.causes, Cause)
    assert len({type(m) for m in found.values()}) == len(found)
    assert "cause" not in found
    assert "reading" not in found
