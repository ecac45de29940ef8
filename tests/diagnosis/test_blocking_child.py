"""A capsule executed again in a process of its own. A race itself needs a GPU; the process, its variable and its answer
are real here."""

from __future__ import annotations

import os

import msgspec
import pytest
import torch

from debugtracer.diagnosis import blocking_child
from debugtracer.diagnosis.blocking_child import born_again, raced
from debugtracer.diagnosis.proof.rank import rank
from debugtracer.testing import some_facts
from tests.interventions.building import Chain, data, fit
from tests.interventions.parts import HandNorm
from tests.watching import under_watch

HERE = {"cpu": "CPU_LAUNCH_BLOCKING"}


@pytest.fixture(scope="module")
def incident(tmp_path_factory):
    """A real capsule."""
    out = tmp_path_factory.mktemp("runs")
    torch.manual_seed(0)
    with under_watch(out, mode="observe", incidents=1):
        fit(Chain(HandNorm()), data())
    return min(path.parent for path in out.glob("*/incidents/*/capsule.json"))


def unknown():
    return msgspec.structs.replace(rank(some_facts()), status="unknown", evidence=("it lies in this batch",))


def test_a_fault_that_comes_again_is_no_race(incident):
    assert raced(unknown(), incident, HERE).evidence == (
        "it lies in this batch",
        (
            "with CPU_LAUNCH_BLOCKING=1, in a process of its own, the same value is born at the same place: no race "
            "between kernels"
        ),
    )


def test_a_fault_that_is_gone_is_told_as_a_race(incident, monkeypatch):
    monkeypatch.setattr(blocking_child, "born_again", lambda folder, variable: False)
    assert (
        raced(unknown(), incident, HERE)
        .evidence[-1]
        .startswith("with CPU_LAUNCH_BLOCKING=1, in a process of its own, the recorded step is finite:")
    )


def test_a_known_cause_and_a_device_without_such_a_variable_are_not_asked(incident):
    known = msgspec.structs.replace(unknown(), status="likely")
    assert raced(known, incident, HERE) is known
    one = unknown()
    assert raced(one, incident) is one


def test_a_child_that_cannot_read_the_capsule_says_nothing(tmp_path):
    assert born_again(tmp_path / "nothing", "CPU_LAUNCH_BLOCKING") is None
    one = unknown()
    assert raced(one, tmp_path / "nothing", HERE) is one


def test_the_variable_reaches_the_child_and_ours_do_not(monkeypatch, tmp_path):
    seen = {}

    def run(command, env, **rest):
        seen.update(env)
        raise OSError

    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")
    monkeypatch.setattr(blocking_child.subprocess, "run", run)
    assert born_again(tmp_path, "CUDA_LAUNCH_BLOCKING") is None
    assert seen["CUDA_LAUNCH_BLOCKING"] == "1"
    assert not [name for name in seen if name.startswith("DEBUG_TRACER")]
    assert seen["PATH"] == os.environ["PATH"]
