"""A new cause, intervention, response or view is one file and its test; nothing else is edited. A check, with its fact
and its observer: test_add_a_check.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CAUSE = '''"""The moon is full."""
from typing import ClassVar
from debugtracer.causes.cause import Cause, Evidence
from debugtracer.causes.incident_evidence import IncidentEvidence

class FullMoon(Cause):
    """The moon is full."""

    kind: ClassVar[str] = "full_moon"

    def evidence_from_incident(self, incident: IncidentEvidence) -> Evidence | None:
        return None
'''
VIEW = '''"""One word."""
from dataclasses import dataclass
from typing import ClassVar
from debugtracer.trace.store.reader import Trace
from debugtracer.views.view import View

@dataclass(frozen=True)
class Word(View):
    """One word."""

    word: ClassVar[str] = "word"
    extension: ClassVar[str] = ".word"

    def render(self, trace: Trace, *, color: bool = False, width: int = 80) -> str:
        return "one"
'''
INTERVENTION = '''"""The gradient turned round."""
from typing import ClassVar
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun

class ReversedGradient(Intervention):
    """The gradient turned round."""

    scope: ClassVar[Scope] = "update"

    def apply(self, rerun: Rerun) -> str:
        return "the gradient turned round"
'''
RESPONSE = '''"""A bell is rung."""
from dataclasses import dataclass
from typing import ClassVar
from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.response import Response

@dataclass(frozen=True)
class RingBell(Response):
    """A bell is rung."""

    intrusion: ClassVar[int] = 2
    modes: ClassVar[frozenset[str]] = frozenset({"prod"})

    def take(self, bad: BadStep, budget: Budget, training: LiveTraining) -> str:
        return "a bell was rung"
'''
USES = """
from debugtracer.causes.cause import causes
from debugtracer.interventions.intervention import interventions
from debugtracer.responses.response import responses
from debugtracer.views.view import views
print("full-moon" in causes(), "word" in views(), "reversed-gradient" in interventions())
print(list(responses()))
"""


def test_one_added_file_each_is_found(tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "src" / "debugtracer", tmp_path / "debugtracer", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name, text in {
        "causes/full_moon.py": CAUSE,
        "views/word.py": VIEW,
        "interventions/reversed_gradient.py": INTERVENTION,
        "responses/ring_bell.py": RESPONSE,
    }.items():
        (tmp_path / "debugtracer" / name).write_text(text)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USES], capture_output=True, text=True, env=environ, check=False)
    slugs = ("note", "skip-update", "clip-harder", "full-precision", "loss-scale", "lower-lr", "ring-bell")
    ladder = str([*slugs, "roll-back", "fresh-moments", "pause", "stop"])
    assert done.stdout.splitlines() == ["True True True", ladder], done.stderr
