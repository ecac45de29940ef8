"""The two-file law: a new check, cause, intervention or view is one file and its test; nothing else is edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

CHECK = '''"""The loss is exactly zero."""
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar
from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

@dataclass(frozen=True)
class ZeroLoss(Check):
    """The loss is exactly zero.

    What it catches
        A loss that cannot teach.
    """

    needs: ClassVar[tuple[str, ...]] = ("loss",)

    def judge(self, window: Window) -> Iterator[Finding]:
        if window.series["loss"][-1] == 0.0:
            yield self.finding(window, "warning", "loss is 0")
'''
CAUSE = '''"""The moon is full."""
from typing import ClassVar
from debugtracer.causes.cause import Cause, Signs
from debugtracer.causes.reading import Reading

class FullMoon(Cause):
    """The moon is full."""

    kind: ClassVar[str] = "full_moon"

    def signs(self, seen: Reading) -> Signs | None:
        return None
'''
VIEW = '''"""One word."""
from dataclasses import dataclass
from typing import ClassVar
from debugtracer.trace.reader import Trace
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
USES = """
from debugtracer.causes.cause import causes
from debugtracer.checks.check import checks
from debugtracer.commands.checks import catalogue
from debugtracer.interventions.intervention import interventions
from debugtracer.testing import a_window
from debugtracer.views.view import views
check = checks()["numerics/zero-loss"]
print([f.severity for f in check.judge(a_window(loss=(0.5, 0.0)))], len(list(check.judge(a_window(loss=(0.5, 0.4))))))
print("numerics/zero-loss" in catalogue(), "full-moon" in causes(), "word" in views(), "reversed-gradient" in interventions())
"""


def test_one_added_file_each_is_found_listed_and_judges(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "debugtracer", tmp_path / "debugtracer", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in {
        "checks/numerics/zero_loss.py": CHECK,
        "causes/full_moon.py": CAUSE,
        "views/word.py": VIEW,
        "interventions/reversed_gradient.py": INTERVENTION,
    }.items():
        (tmp_path / "debugtracer" / name).write_text(text)
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", USES], capture_output=True, text=True, env=environ, check=False)
    assert done.stdout.splitlines() == ["['warning'] 0", "True True True True"], done.stderr
