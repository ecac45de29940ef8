"""Four bugs (docs/rationale/replay.md#four-bugs) inside each kind of loop: operator, line, sample and rank are named.

One bug a loop on every commit, all of them in `just sweep`, which alone waits for a C++ compiler."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from tests.faults.every import SWEEP
from tests.forked import Programs

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from loops import ALL_OF_THE_LINE, BUGS, LOOPS, marks, watched

NEEDS = {"lightning_trainer": "lightning", "hf_trainer": "transformers", "accelerated": "accelerate"}
PAIRS = [
    (loop, bug)
    for n, loop in enumerate(LOOPS)
    for k, bug in enumerate(BUGS)
    if SWEEP or (n % 4 == k and loop != "fsdp2")
]


@pytest.mark.parametrize(("loop", "bug"), PAIRS)
def test_the_verdict_names_operator_line_sample_and_rank(loop, bug, tmp_path, programs: Programs, monkeypatch):
    if loop in NEEDS and importlib.util.find_spec(NEEDS[loop]) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{NEEDS[loop]} is not installed")
    if loop == "compiled" and not SWEEP:
        monkeypatch.setenv("COMPILE_BACKEND", "aot_eager")
    report, said = watched(loop, bug, tmp_path, seconds=850, tool=programs.tool, launcher=programs.launcher)
    assert report["verdict"] is not None, said
    assert marks(loop, bug, report) == dict.fromkeys(ALL_OF_THE_LINE, True), report["verdict"]
    assert report["run"]["stopped_by_tracer"] and report["verdict"]["status"] in ("confirmed", "likely")


@pytest.mark.sweep
@pytest.mark.parametrize("loop", ["ddp", "fsdp2"])
def test_healthy_ranks_agree_at_every_gate_and_train_to_the_end(loop, tmp_path, programs: Programs):
    report, said = watched(loop, "none", tmp_path, seconds=850, tool=programs.tool)
    assert report["run"]["steps"] == 12 and not report["run"]["stopped_by_tracer"], said
    assert report["verdict"] is None and [f["message"] for f in report["findings"] if f["severity"] != "note"] == []


@pytest.mark.sweep
def test_a_flat_sharded_model_is_refused_in_words_and_all_ranks_stop(tmp_path, programs: Programs):
    report, said = watched("fsdp1", "mask", tmp_path, seconds=850, tool=programs.tool)
    assert report["verdict"]["status"] == "unknown" and report["run"]["stopped_by_tracer"]
    assert "with fully_shard (FSDP2) the weights can be gathered" in " ".join(said.split())
    assert "all ranks stop together" in said
