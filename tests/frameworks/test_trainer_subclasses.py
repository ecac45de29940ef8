"""The four bugs in a preference trainer like those of trl and in a Trainer with gradient checkpointing; one of each,
all of them in `just sweep`."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.faults.every import SWEEP
from tests.forked import Programs

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from loops import ALL_OF_THE_LINE, BUGS, marks, watched

PAIRS = [("hf_preference", bug) for bug in BUGS] + [
    ("hf_checkpointed", f"{bug}{kind}") for bug in BUGS for kind in ("", "-reentrant")
]


@pytest.mark.parametrize(
    ("loop", "bug"), PAIRS if SWEEP else [("hf_preference", "mask"), ("hf_checkpointed", "sqrt0-reentrant")]
)
def test_the_verdict_names_operator_line_and_sample(loop, bug, tmp_path, programs: Programs):
    if importlib.util.find_spec("transformers") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("transformers is not installed")
    report, said = watched(loop, bug, tmp_path, seconds=850, tool=programs.tool)
    assert report["verdict"] is not None, said
    assert marks(loop, bug.partition("-")[0], report) == dict.fromkeys(ALL_OF_THE_LINE, True), report["verdict"]
    assert report["run"]["stopped_by_tracer"] and report["verdict"]["status"] in ("confirmed", "likely")
