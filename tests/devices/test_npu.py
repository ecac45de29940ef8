"""torch_npu's names on a stand-in device: a real PrivateUse1 backend in host memory, built here. No Ascend was ever at
hand."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from debugtracer.devices.device import Device
from debugtracer.devices.present import device
from debugtracer.trace.events import Found, RankStarted
from debugtracer.trace.store.reader import open_trace
from tests.devices.ran import ROOT, TRITON, judged_as_by_torch, ran, told
from tests.devices.stand_in.npu import build
from tests.made_once import made_once

compiled = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler (apt install g++)")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built device."""
    return made_once(tmp_path_factory, "device", build)


def found(work: Path) -> list[str]:
    """What the flag's check said in the only run."""
    findings = [e.finding for e in open_trace(next((work / "runs").iterdir())).events() if isinstance(e, Found)]
    return [f.message for f in findings if f.check == "numerics/overflow-flag"]


@compiled
def test_training_on_the_device_is_the_same_bit_for_bit(library: Path, tmp_path: Path) -> None:
    bare = ran("trains", tmp_path, DEVICE_BUILD=str(library))
    watched = ran("trains", tmp_path, ours=("--mode", "observe"), DEVICE_BUILD=str(library))
    assert bare.returncode == 0, bare.stderr
    assert "npu" in bare.stdout
    assert watched.stdout == bare.stdout, watched.stderr
    (started,) = [e for e in open_trace(next((tmp_path / "runs").iterdir())).events() if isinstance(e, RankStarted)]
    assert started.device == "npu"


@pytest.fixture(scope="module")
def incident(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on the device that mode dev stopped."""
    work = tmp_path_factory.mktemp("incident")
    done = ran("logs_zero", work, ours=("--mode", "dev"), DEVICE_BUILD=str(library))
    assert done.returncode == 3, done.stderr
    return work / "runs" / "latest"


@compiled
def test_a_fault_on_the_device_is_replayed_there_and_named(incident: Path) -> None:
    verdict = json.loads(told("report", str(incident), "--format", "json").stdout)["verdict"]
    assert (verdict["class"], verdict["status"], verdict["op"], verdict["line"], verdict["sample_index"]) == (
        "log_domain", "confirmed", "aten::log", 18, [43],
    )  # fmt: skip


def verdict(program: str, library: Path, work: Path, mode: str) -> tuple[object, ...]:
    """What is said of a program whose numbers are read late: no step of it waits for the device."""
    done = ran(program, work, ours=("--mode", mode), DEVICE_BUILD=str(library))
    assert done.returncode == 0, done.stderr
    said = json.loads(told("report", str(work / "runs" / "latest"), "--format", "json").stdout)["verdict"]
    return tuple(said[key] for key in ("class", "status", "op", "line", "sample_index"))


@compiled
@pytest.mark.parametrize("mode", ["observe", "prod"])
def test_a_fault_whose_update_is_written_is_replayed_from_the_copy(library: Path, tmp_path: Path, mode: str) -> None:
    assert verdict("logs_zero", library, tmp_path, mode) == ("log_domain", "confirmed", "aten::log", 18, [43])


@compiled
def test_older_weights_that_do_not_show_the_fault_prove_nothing(library: Path, tmp_path: Path) -> None:
    settings = {"DEVICE_BUILD": str(library), "DEBUG_TRACER_COPY_BYTES": "4"}
    done = ran("older_weights", tmp_path, ours=("--mode", "observe"), **settings)
    assert done.returncode == 0, done.stderr
    said = told("report", str(tmp_path / "runs" / "latest")).stdout
    assert "the fault did not come with the weights of" in " ".join(said.split())
    assert "healthy when it is executed again" not in said and "LAUNCH_BLOCKING" not in said


@compiled
@pytest.mark.parametrize(("what", "incidents"), [("large", 0), ("infinite", 1)])
def test_a_clip_whose_norm_has_overflowed_is_no_incident(
    what: str, incidents: int, library: Path, tmp_path: Path
) -> None:
    done = ran("clips", tmp_path, what, ours=("--mode", "observe"), DEVICE_BUILD=str(library))
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "runs" / "latest" / "incidents").glob("*"))) == incidents


@compiled
def test_a_loss_under_a_scaler_is_read_there_and_its_sample_named(library: Path, tmp_path: Path) -> None:
    kind, status, _, line, sample = verdict("scales", library, tmp_path, "observe")
    assert (kind, status, line, sample) == ("data_nonfinite", "confirmed", 15, [43])
    _, scales = open_trace(tmp_path / "runs" / "latest").series("scale")
    assert len(set(scales)) > 1, "its scale is known though nobody has asked the device for it"


@compiled
@pytest.mark.parametrize("later", [(), ("later",)])
@pytest.mark.parametrize(
    ("what", "said", "op"),
    [
        ("token", "station (Embedding, 40 rows) (asserts.py:27) was given ids up to 42", "aten::embedding"),
        ("label", "cross_entropy was given class 7", None),
    ],
)
def test_an_index_that_a_device_refuses_without_its_name_is_named_by_the_host(
    library: Path, tmp_path: Path, what: str, said: str, op: str | None, later: tuple[str, ...]
) -> None:
    done = ran("asserts", tmp_path, what, *later, ours=("--mode", "observe"), DEVICE_BUILD=str(library))
    assert done.returncode == 1 and "CUDA error" in done.stderr
    report = json.loads(told("report", str(tmp_path / "runs" / "latest"), "--format", "json").stdout)
    verdict, (finding,) = report["verdict"], report["findings"]
    kind = {"token": "token_out_of_range", "label": "label_out_of_range"}[what]
    assert (verdict["class"], verdict["status"], verdict["sample_index"]) == (kind, "confirmed", [43])
    assert verdict["op"] == op and said in finding["message"]


@compiled
def test_its_capsule_is_executed_on_a_machine_without_the_device(incident: Path) -> None:
    (folder,) = (incident / "incidents").iterdir()
    assert json.loads((folder / "capsule.json").read_bytes())["device"].startswith("npu")
    done = told("replay", str(folder), "--json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["device"], answer["same_birth"]) == (0, "cpu", True)


@compiled
def test_the_flag_of_a_saturating_chip_is_told_where_no_inf_is(library: Path, tmp_path: Path) -> None:
    done = ran("saturates", tmp_path, ours=("--mode", "observe"), DEVICE_BUILD=str(library))
    assert done.returncode == 0, done.stderr
    assert "inf" not in done.stdout
    (said,) = found(tmp_path)
    assert said == (
        "step 1, rank 0: the overflow flag of npu was set after step 0; expected it clear: a result was beyond the "
        "range of its dtype and was written as "
        "the largest number. Lower the loss scale, or compute that op in float32."
    )


@compiled
def test_a_healthy_run_there_is_silent_and_the_flag_is_read_on_inspected_steps_only(
    library: Path, tmp_path: Path
) -> None:
    done = ran("saturates", tmp_path, "healthy", "count", ours=("--mode", "observe"), DEVICE_BUILD=str(library))
    assert done.stdout.endswith("flag read 3\n"), done.stderr
    assert not found(tmp_path)


def test_the_flag_of_npu_is_read_only_where_chips_saturate(monkeypatch):
    said = {}
    utils = type("utils", (), {"is_support_inf_nan": staticmethod(lambda: said["inf"])})
    module = type(
        "npu",
        (),
        {
            "utils": utils,
            "get_npu_overflow_flag": staticmethod(lambda: 1),
            "clear_npu_overflow_flag": staticmethod(said.clear),
        },
    )
    monkeypatch.setattr(Device, "module", property(lambda self: module))
    npu = device("npu")
    for inf in (True, False):
        said["inf"] = inf
        assert npu.saturates() is not inf
    assert npu.overflowed() is True
    npu.clear_overflow()
    assert said == {}


@compiled
@pytest.mark.skipif(not (TRITON / "triton").is_dir(), reason="needs Triton (scripts/setup.sh test)")
def test_training_there_is_judged_by_the_kernels_as_by_torch(library: Path, tmp_path: Path) -> None:
    done = ran("judged_by_kernels", tmp_path, beside=(ROOT, TRITON), TRITON_INTERPRET="1", DEVICE_BUILD=str(library))
    assert done.returncode == 0, done.stderr
    judged_as_by_torch(json.loads(done.stdout))
