"""CUDA: what can be asked without a GPU, and training on one where there is one (docs/devices.md: when)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer.devices.present import device
from debugtracer.trace.events import RankStarted
from debugtracer.trace.store.reader import open_trace
from tests.devices.ran import ROOT, TRITON, inherited, judged_as_by_torch, ran, told

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_the_variable_that_makes_kernels_wait():
    assert device("cuda").blocking == "CUDA_LAUNCH_BLOCKING"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_one_it_is_asleep_and_says_nothing():
    cuda = device("cuda")
    assert not cuda.awake()
    assert not cuda.usable()
    assert cuda.memory() is None


@gpu
def test_a_generator_memory_and_a_copy_on_its_way():
    cuda = device("cuda")
    value = torch.arange(4.0, device="cuda")
    copy, arrived = cuda.host_copy(value), cuda.arrival()
    arrived.synchronize()
    assert copy.is_pinned()
    assert copy.tolist() == [0, 1, 2, 3]
    assert cuda.generator(None) is torch.cuda.default_generators[torch.cuda.current_device()]
    assert cuda.memory().allocated >= value.nbytes


@gpu
@pytest.mark.parametrize("program", ["trains", "scales", "compiled"])
@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_training_there_is_the_same_bit_for_bit(program: str, mode: str, tmp_path: Path) -> None:
    bare = ran(program, tmp_path, "healthy", PLACE="cuda")
    watched = ran(program, tmp_path, "healthy", ours=("--mode", mode), PLACE="cuda")
    assert bare.returncode == 0, bare.stderr
    assert watched.stdout == bare.stdout, watched.stderr
    (started,) = [e for e in open_trace(next((tmp_path / "runs").iterdir())).events() if isinstance(e, RankStarted)]
    assert started.device == "cuda"


def verdict(program: str, work: Path, mode: str) -> tuple[Any, ...]:
    """What is said of a program that meets sample 43."""
    done = ran(program, work, ours=("--mode", mode), PLACE="cuda")
    assert done.returncode == (3 if mode == "dev" else 0), done.stderr
    said = json.loads(told("report", str(work / "runs" / "latest"), "--format", "json").stdout)["verdict"]
    return tuple(said[key] for key in ("class", "status", "op", "line", "sample_index"))


@gpu
@pytest.mark.parametrize("mode", ["observe", "dev", "val", "prod"])
def test_a_fault_there_is_replayed_there_and_named(mode: str, tmp_path: Path) -> None:
    assert verdict("logs_zero", tmp_path, mode) == ("log_domain", "confirmed", "aten::log", 18, [43])


@gpu
def test_a_fault_in_a_compiled_model_is_named(tmp_path: Path) -> None:
    assert verdict("compiled", tmp_path, "observe") == ("log_domain", "confirmed", "aten::log", 19, [43])


@gpu
@pytest.mark.parametrize(("what", "incidents"), [("large", 0), ("infinite", 1)])
def test_a_clip_whose_norm_has_overflowed_is_no_incident(what: str, incidents: int, tmp_path: Path) -> None:
    done = ran("clips", tmp_path, what, ours=("--mode", "observe"), PLACE="cuda")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs" / "latest" / "incidents").glob("*"))) == incidents


@gpu
def test_a_bad_sample_under_a_scaler_is_named(tmp_path: Path) -> None:
    kind, status, _, line, sample = verdict("scales", tmp_path, "observe")
    assert (kind, status, line, sample) == ("data_nonfinite", "confirmed", 15, [43])


@gpu
def test_a_capsule_is_executed_on_a_machine_without_one(tmp_path: Path) -> None:
    ran("logs_zero", tmp_path, ours=("--mode", "observe"), PLACE="cuda")
    (folder,) = (tmp_path / "runs" / "latest" / "incidents").iterdir()
    for hidden, expected in (("", "cpu"), (None, "cuda")):
        done = told("replay", str(folder), "--json", **({} if hidden is None else {"CUDA_VISIBLE_DEVICES": hidden}))
        answer = json.loads(done.stdout)
        assert (done.returncode, answer["device"].split(":")[0], answer["same_birth"]) == (0, expected, True)


@gpu
def test_training_there_is_judged_by_the_kernels_as_by_torch(tmp_path: Path) -> None:
    done = ran("judged_by_kernels", tmp_path, beside=(ROOT, TRITON), PLACE="cuda")
    assert done.returncode == 0, done.stderr
    judged_as_by_torch(json.loads(done.stdout))


@gpu
@pytest.mark.parametrize("what", ["token", "label"])
def test_an_index_that_cuda_refuses_without_its_name_is_named(what: str, tmp_path: Path) -> None:
    done = ran("asserts", tmp_path, what, ours=("--mode", "observe"), PLACE="cuda")
    assert done.returncode != 0 and "device-side assert" in done.stderr
    said = json.loads(told("report", str(tmp_path / "runs" / "latest"), "--format", "json").stdout)["verdict"]
    assert (said["class"], said["sample_index"]) == (f"{what}_out_of_range", [43])


@gpu
@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_a_plain_step_waits_for_the_device_no_more_often_than_bare(mode: str) -> None:
    bare, watched = (
        subprocess.run(
            [sys.executable, str(ROOT / "benchmarks" / "host_syncs.py"), word, "fused"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *inherited()])},
            capture_output=True,
            text=True,
            check=True,
            timeout=200,
        ).stdout
        for word in ("bare", mode)
    )
    assert watched == bare
