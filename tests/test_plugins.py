"""The folder is the registry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import debugtracer.causes
import debugtracer.checks
import debugtracer.interventions
from debugtracer import errors
from debugtracer.causes.cause import Cause
from debugtracer.checks.check import Check
from debugtracer.interventions.intervention import Intervention
from debugtracer.plugins import members, members_from, named, slug_of


def test_a_slug_is_the_path_below_the_package_with_dashes():
    assert slug_of("debugtracer.checks.numerics.nan_loss", "debugtracer.checks") == "numerics/nan-loss"


def test_every_member_is_named_after_its_file():
    for package, contract in (
        (debugtracer.checks, Check),
        (debugtracer.causes, Cause),
        (debugtracer.interventions, Intervention),
    ):
        for slug, member in members(package, contract).items():
            words = slug.split("/")[-1].split("-")
            assert type(member).__name__ == "".join(w.capitalize() for w in words)


def test_the_contract_itself_and_imported_classes_are_no_members():
    found = members(debugtracer.causes, Cause)
    assert len({type(m) for m in found.values()}) == len(found)
    assert "cause" not in found
    assert "incident-evidence" not in found and "reading" not in found


MOON = '''"""The moon is full."""
from typing import ClassVar
from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

class FullMoon(Cause):
    """The moon is full."""

    kind: ClassVar[str] = "full_moon"
    remedies: ClassVar[tuple[str, ...]] = ("wait",)

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        """At any time."""
        return Evidence(confidence=0.1, because="it shines", remedies=self.remedies)
'''
MOON_BEFORE = MOON.replace("Cause, Evidence", "Cause, Signs").replace(
    "causes.incident_evidence import IncidentEvidence", "causes.reading import Reading"
)
MOON_BEFORE = MOON_BEFORE.replace(
    "evidence_from_incident(self, incident: IncidentEvidence) -> Evidence", "signs(self, seen: Reading) -> Signs"
)
MOON_BEFORE = MOON_BEFORE.replace("Evidence(confidence", "Signs(confidence")
ASKED = """
import json
from debugtracer import errors
from debugtracer.causes.cause import causes
print(json.dumps([[slug for slug, cause in causes().items() if not type(cause).__module__.startswith("debugtracer.")], \
list(errors.failures), len(causes())]))
print(causes()["full-moon"].slug, causes()["full-moon"].kind)
"""


def asked(**environ: str) -> tuple[list[str], list[str], int, str]:
    """(causes that are not ours, what failed, how many there are, the new one) in a process of its own."""
    told = {k: v for k, v in os.environ.items() if k != "DEBUG_TRACER_STRICT"} | environ
    done = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, env=told, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    brought, failed, count = json.loads(first)
    return brought, failed, count, second


def test_causes_of_a_folder_join_ours_and_a_broken_file_costs_nothing_else(tmp_path: Path):
    (tmp_path / "moon.py").write_text(MOON)
    (tmp_path / "before.py").write_text(MOON_BEFORE.replace("FullMoon", "OldMoon"))
    (tmp_path / "broken.py").write_text("import nothing_of_that_name")
    (tmp_path / "classless.py").write_text(
        MOON.replace("FullMoon", "HalfMoon").replace('    kind: ClassVar[str] = "full_moon"\n', "")
    )
    (tmp_path / "taken.py").write_text(MOON.replace("FullMoon", "LogDomain"))
    brought, failed, count, new = asked(DEBUG_TRACER_CAUSES=str(tmp_path))
    assert brought == ["full-moon", "old-moon"]
    assert failed == [f"plugins: {tmp_path / 'broken.py'}", "plugins: half-moon", "plugins: log-domain"]
    assert count == len(members(debugtracer.causes, Cause)) + 2
    assert new == "full-moon full_moon"


def test_causes_of_an_installed_package_join_ours(tmp_path: Path):
    (tmp_path / "moonlight.py").write_text(MOON)
    info = tmp_path / "moonlight-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moonlight\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[debugtracer.causes]\nmoon = moonlight:FullMoon\nlost = moonlight:NoSuchThing\nodd = moonlight:ClassVar\n"
    )
    brought, failed, _, _ = asked(PYTHONPATH=str(tmp_path))
    assert brought == ["full-moon"]
    assert sorted(failed) == [
        "plugins: entry point lost of debugtracer.causes",
        "plugins: entry point odd of debugtracer.causes",
    ]


def test_a_folder_that_is_not_there_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    monkeypatch.setattr(errors, "failures", {})
    assert members_from(tmp_path / "none", Cause) == {}
    assert list(errors.failures) == [f"plugins: {tmp_path / 'none'}"]


def test_a_class_that_users_bring_is_named_as_our_files_are():
    for slug, member in members(debugtracer.causes, Cause).items():
        assert named(type(member)) == slug
