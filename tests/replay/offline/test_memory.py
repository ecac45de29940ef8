from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import load_capsule, save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.offline.offline import Execution, run_capsule
from tests.recorder.steps import Trace, facts, recorded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_capsule(tmp_path / "step", recorded("tied"), facts(), None)
    return tmp_path / "step"


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ({"offset": 10**9}, "reaches outside of its"),
        ({"offset": -1}, "is damaged"),
        ({"shape": (10**6, 8)}, "reaches outside of its|left the recorded step"),
        ({"shape": (2**40, 2**40), "stride": (0, 0)}, "cannot be made|reaches outside"),
        ({"stride": (10**6, 1)}, "reaches outside of its"),
        ({"stride": (8,)}, "is damaged"),
        ({"dtype": "load"}, "is damaged .load is no dtype"),
        ({"dtype": "float64"}, "reaches outside of its"),
    ],
)
def test_a_window_outside_of_its_memory_is_refused(folder: Path, ref: dict[str, object], words: str) -> None:
    capsule = load_capsule(folder)
    number = dict(capsule.program.labels)["parameter embedding.weight"]
    capsule.program.refs[number] = msgspec.structs.replace(capsule.program.refs[number], **ref)
    with pytest.raises(CapsuleError, match=words):
        run_capsule(capsule)


def test_a_blob_that_is_missing_or_too_long_is_refused(folder: Path) -> None:
    capsule = load_capsule(folder)
    name = next(name for name in capsule.blobs if name.startswith("storage/"))
    capsule.blobs[name] = torch.zeros(10**6, dtype=torch.uint8)
    with pytest.raises(CapsuleError, match="does not fit its"):
        run_capsule(capsule)


def test_a_storage_of_impossible_size_is_refused(folder: Path) -> None:
    capsule = load_capsule(folder)
    for row in capsule.program.storages:
        row.nbytes = 2**60
    with pytest.raises(CapsuleError, match="cannot be made"):
        run_capsule(capsule)


def test_memory_is_freed_when_nothing_later_uses_it(tmp_path: Path) -> None:
    x, program = torch.ones(1000), Program()
    with Trace(program):
        for _ in range(30):
            x = x + 1.0
        program.target("x", x)
    save_capsule(tmp_path / "step", program, facts(), None)
    execution = Execution(load_capsule(tmp_path / "step"), None, torch.device("cpu"), ())
    assert execution.run().parity == "bitwise"
    assert len(execution.memory.storages) == 1


def test_a_result_laid_out_otherwise_is_copied_into_the_recorded_strides(folder: Path) -> None:
    execution = Execution(load_capsule(folder), None, torch.device("cpu"), ())
    memory = execution.memory
    number, window = next(
        (n, r)
        for n, r in enumerate(memory.program.refs)
        if len(r.shape) == 2 and memory.program.storages[r.storage].start is None
    )
    other = torch.arange(window.shape[0] * window.shape[1], dtype=torch.float32).reshape(window.shape[::-1]).t()
    memory.result(number, other)
    here = memory.tensor(number)
    assert here.stride() == window.stride != other.stride()
    assert torch.equal(here, other)


def test_the_same_tensor_object_is_given_for_the_same_window(folder: Path) -> None:
    memory = Execution(load_capsule(folder), None, torch.device("cpu"), ()).memory
    number = dict(memory.program.labels)["parameter embedding.weight"]
    assert memory.tensor(number) is memory.tensor(number)
