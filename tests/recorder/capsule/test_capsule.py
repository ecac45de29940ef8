from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
import torch

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import VERSION, load_capsule, save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.verdict import Verdict
from tests.recorder.steps import Trace, facts, recorded

FILES = ("capsule.json", "program.json.gz", "inputs.safetensors")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "incidents" / "step-001204-rank0"
    save_capsule(folder, recorded("cnn"), facts(), None, {"batch": 5})
    return folder


def test_a_capsule_says_what_it_holds(tmp_path: Path) -> None:
    verdict = Verdict(kind="log_zero", cause="log-domain", symptom="nan_loss", layer="model", iteration=1204, step=1204)
    written = save_capsule(tmp_path / "step", recorded("tied"), facts(), verdict, {"note": "x"}, "run-0-1204")
    assert written == sum(path.stat().st_size for path in (tmp_path / "step").rglob("*") if path.is_file())
    head = load_capsule(tmp_path / "step").head
    assert (head.version, head.verdict, head.facts, head.extra) == (VERSION, verdict, facts(), {"note": "x"})
    assert head.trace_id == "run-0-1204"
    assert head.inputs == ("batch[0]", "parameter embedding.weight")
    assert head.targets == ("loss", "gradient embedding.weight", "updated embedding.weight")
    assert (head.torch, head.device) == (torch.__version__, "cpu")


def test_the_program_comes_back_as_it_was(tmp_path: Path) -> None:
    program = recorded("gpt2")
    save_capsule(tmp_path / "step", program, facts(), None)
    capsule = load_capsule(tmp_path / "step")
    assert capsule.program == program.finish()
    assert capsule.blobs.keys() == program.blobs().keys()
    assert all(
        torch.equal(capsule.blobs[name].view(torch.uint8), blob.view(torch.uint8))
        for name, blob in program.blobs().items()
    )


def test_sources_named_by_frames_are_copied_once_and_large_ones_are_not(tmp_path: Path) -> None:
    script, big = tmp_path / "train.py", tmp_path / "big.py"
    script.write_text("loss = x.log()\n")
    big.write_text("#" * 1_000_001)
    frames = (Frame(str(script), 1), Frame(str(big), 1), Frame("<ipython-input-3>", 1), Frame(str(script), 9))
    save_capsule(
        tmp_path / "step",
        recorded("tied"),
        facts(birth=Birth(op="aten::log", direction="forward", kind="domain", frames=frames)),
        None,
    )
    assert load_capsule(tmp_path / "step").head.sources == {str(script): "000-train.py"}
    assert [path.name for path in (tmp_path / "step" / "sources").iterdir()] == ["000-train.py"]


def test_an_opaque_step_names_its_operator(tmp_path: Path) -> None:
    program = Program()
    with Trace(program):
        torch.eye(2).to_sparse().sum()
    with pytest.raises(CapsuleError) as error:
        save_capsule(tmp_path / "step", program, facts(), None)
    assert str(error.value).startswith("step 1204, rank 0 cannot be kept as a capsule: the operator aten.")
    assert str(error.value).endswith("re-running the script (`--from-source`) is not available in this version")
    assert list(tmp_path.iterdir()) == []


def test_a_step_over_the_budget_says_the_numbers(tmp_path: Path) -> None:
    program, big = Program(max_bytes=100), torch.ones(1000)
    with Trace(program):
        big.sum()
    with pytest.raises(
        CapsuleError, match=r"too large: its inputs are 4,000 bytes, the budget is 100; raise the budget"
    ):
        save_capsule(tmp_path / "step", program, facts(), None)


@pytest.mark.parametrize("limit", [100, 3000, 20_000])
def test_a_disk_that_is_full_in_the_middle_leaves_nothing_behind(tmp_path: Path, limit: int) -> None:
    program, limits = recorded("gpt2"), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limits[1]))
    try:
        with pytest.raises(
            CapsuleError, match=r"step cannot be written .*; the report of the incident is complete without it"
        ):
            save_capsule(tmp_path / "step", program, facts(), None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "incidents").write_text("a file in the way")
    with pytest.raises(CapsuleError, match="cannot be written"):
        save_capsule(tmp_path / "incidents" / "step", recorded("tied"), facts(), None)


def test_an_incident_that_exists_is_not_overwritten(saved: Path, tmp_path: Path) -> None:
    copy = tmp_path / "step"
    shutil.copytree(saved, copy)
    with pytest.raises(CapsuleError, match="cannot be written"):
        save_capsule(copy, recorded("tied"), facts(), None)
    assert load_capsule(copy).head == load_capsule(saved).head
    assert list(tmp_path.iterdir()) == [copy]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99, "last byte"])
def test_a_truncated_file_is_one_clear_error(saved: Path, tmp_path: Path, name: str, share: float | str) -> None:
    shutil.copytree(saved, tmp_path / "step")
    path = tmp_path / "step" / name
    size = path.stat().st_size
    os.truncate(path, size - 1 if isinstance(share, str) else int(size * share))
    with pytest.raises(CapsuleError) as error:
        load_capsule(tmp_path / "step")
    assert name in str(error.value)
    assert "cut short" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(saved: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(saved, tmp_path / "step")
    (tmp_path / "step" / name).unlink()
    with pytest.raises(CapsuleError, match=f"has no readable {name} \\(No such file or directory\\)"):
        load_capsule(tmp_path / "step")


def test_a_changed_byte_is_noticed(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "step")
    path = tmp_path / "step" / "inputs.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(CapsuleError, match=r"inputs\.safetensors is not the file that was written"):
        load_capsule(tmp_path / "step")


@pytest.mark.parametrize("version", ["debug-tracer.capsule/2", None, 7])
def test_another_version_is_refused_by_name(saved: Path, tmp_path: Path, version: object) -> None:
    shutil.copytree(saved, tmp_path / "step")
    path = tmp_path / "step" / "capsule.json"
    path.write_text(json.dumps({"version": version, "all": "else"}))
    with pytest.raises(CapsuleError) as error:
        load_capsule(tmp_path / "step")
    assert f"is a capsule of version {version}; this debug-tracer reads {VERSION}" in str(error.value)


def test_a_folder_that_is_none_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CapsuleError, match="is not a folder; expected an incident such as"):
        load_capsule(tmp_path / "nothing")


def test_no_pickle_is_in_any_file(saved: Path) -> None:
    assert {path.name for path in saved.iterdir()} == {*FILES, "sources"}
    msgspec.json.decode((saved / "capsule.json").read_bytes())
    assert (saved / "inputs.safetensors").read_bytes()[8:9] == b"{"


def test_a_killed_writer_leaves_a_whole_capsule_or_none(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib; from tests.recorder.steps import *; from debugtracer.recorder.capsule.capsule import "
        "save_capsule\n"
    )
    script += (
        "p = recorded('cnn'); print('go', flush=True)\nfor n in range(10**6): save_capsule(pathlib.Path(sys.argv[1]) / "
        "f'step-{n}', p, facts(), None)"
    )
    seen = 0
    for turn in range(20):
        child = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / str(turn))], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.05 + 0.037 * turn)
        child.kill()
        child.communicate()
        for folder in (tmp_path / str(turn)).glob("step-*"):
            load_capsule(folder)
            seen += 1
        if turn and seen > 1:
            break
    assert seen > 1
