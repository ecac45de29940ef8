"""The budget of trials, which every run has."""

from __future__ import annotations

import subprocess
import sys

from debugtracer.diagnosis.proof.trial_budget import TrialBudget


def test_a_budget_brings_no_trials_along():
    program = (
        "import sys, debugtracer.diagnosis.proof.trial_budget\n"
        "rooms = 'debugtracer.causes', 'debugtracer.interventions', 'debugtracer.replay', 'torch'\n"
        "print([name for name in sys.modules if name.startswith(rooms)])\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_the_order_is_the_one_that_tells_most():
    assert TrialBudget() == TrialBudget(trials=8, seconds=30.0, order="information")
