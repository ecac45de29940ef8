"""The four bugs of PEERS inside each kind of loop: operator, line, sample and rank are named; a rotating one per loop, all of them with DEBUG_TRACER_ALL=1."""

from __future__ import annotations

import datetime
import importlib.util
import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
from loops import ALL_OF_THE_LINE, BUGS, LOOPS, marks, watched

NEEDS = {"lightning_trainer": "lightning", "hf_trainer": "transformers", "accelerated": "accelerate"}
TODAY = datetime.date.today().toordinal()
PAIRS = [(loop, bug) for n, loop in enumerate(LOOPS) for k, bug in enumerate(BUGS) if os.environ.get("DEBUG_TRACER_ALL") == "1" or (n + TODAY) % 4 == k]


@pytest.mark.parametrize(("loop", "bug"), PAIRS)
def test_the_verdict_names_operator_line_sample_and_rank(loop, bug, tmp_path):
    if loop in NEEDS and importlib.util.find_spec(NEEDS[loop]) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"{NEEDS[loop]} is not installed")
    report, said = watched(loop, bug, tmp_path, seconds=850)
    assert report["verdict"] is not None, said
    assert marks(loop, bug, report) == dict.fromkeys(ALL_OF_THE_LINE, True), report["verdict"]
    assert report["run"]["stopped_by_tracer"] and report["verdict"]["status"] in ("confirmed", "likely")


@pytest.mark.parametrize("loop", ["ddp", "fsdp2"][TODAY % 2 : TODAY % 2 + 1])
def test_healthy_ranks_agree_at_every_gate_and_train_to_the_end(loop, tmp_path):
    report, said = watched(loop, "none", tmp_path, seconds=850)
    assert report["run"]["steps"] == 12 and not report["run"]["stopped_by_tracer"], said
    assert report["verdict"] is None and [f["message"] for f in report["findings"] if f["severity"] != "note"] == []


def test_a_flat_sharded_model_is_refused_in_words_and_all_ranks_stop(tmp_path):
    report, said = watched("fsdp1", "mask", tmp_path, seconds=850)
    assert report["verdict"]["status"] == "unknown" and report["run"]["stopped_by_tracer"]
    assert "with fully_shard (FSDP2) the weights can be gathered" in " ".join(said.split())
    assert "all ranks stop together" in said
