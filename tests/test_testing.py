"""The builders, and the rooms that are read without torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import a_masked_row, a_trace, an_incident
from debugtracer.trace.events import Incident, RankEnded, RankStarted
from debugtracer.trace.store.reader import open_trace


def test_a_built_trace_is_a_real_run_folder(tmp_path):
    facts = a_masked_row()
    trace = open_trace(a_trace(tmp_path, an_incident(facts, rank(facts)), steps=49))
    assert [type(e) for e in trace.events()] == [RankStarted, Incident, RankEnded]
    assert trace.events()[1].facts == facts
    steps, values = trace.series("loss")
    assert steps == list(range(49))
    assert values[0] == 1.0


@pytest.mark.parametrize(
    "module",
    [
        "testing",
        "diagnosis.proof.rank",
        "checks.check",
        "causes.cause",
        "views.terminal",
        "commands.report",
        "commands.checks",
    ],
)
def test_judging_and_showing_need_no_torch(module):
    code = (
        f"import sys, debugtracer.{module} as m; from debugtracer.checks.check import checks; from "
        "debugtracer.causes.cause import causes; "
        "checks(); causes(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
