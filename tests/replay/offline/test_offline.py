from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest
import torch
import torch.distributed as dist

from debugtracer.errors import CapsuleError
from debugtracer.recorder.capsule.capsule import load_capsule, save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.offline.offline import run_capsule
from tests.recorder.steps import STEPS, Trace, facts, recorded

os.environ["DEBUG_TRACER_STRICT"] = "1"
LOW = {"autocast", "scaled"}  # computed in bfloat16 and float16


@pytest.mark.parametrize("name", sorted(STEPS))
def test_loss_gradients_and_updated_parameters_are_bitwise_the_same(name: str, tmp_path: Path) -> None:
    save_capsule(tmp_path / "step", recorded(name), facts(), None)
    result = run_capsule(load_capsule(tmp_path / "step"))
    assert len(result.distance) >= 3
    assert {name: gap for name, gap in result.distance.items() if gap is not None} == {}
    assert result.parity == "bitwise"


@pytest.mark.parametrize("name", sorted(STEPS))
def test_the_same_program_runs_in_float64(name: str, tmp_path: Path) -> None:
    save_capsule(tmp_path / "step", recorded(name), facts(), None)
    capsule = load_capsule(tmp_path / "step")
    there, here = run_capsule(capsule).targets["loss"], run_capsule(capsule, dtype="float64").targets["loss"]
    assert here.dtype == torch.float64
    assert float(here) != float(there)
    assert float(here) == pytest.approx(float(there), rel=1e-2 if name in LOW else 1e-5)


def test_bits_read_as_another_dtype_are_replayed_and_refused_in_another(tmp_path: Path) -> None:
    x, program = torch.randn(4), Program()
    with Trace(program):
        program.target("bits", x.view(torch.int32) + 1)
    save_capsule(tmp_path / "step", program, facts(), None)
    assert run_capsule(load_capsule(tmp_path / "step")).parity == "bitwise"
    with pytest.raises(
        CapsuleError,
        match="reads the bits of a tensor as another dtype, which means nothing in float64; leave --dtype out",
    ):
        run_capsule(load_capsule(tmp_path / "step"), dtype="float64")


def test_a_collective_replays_from_its_results_without_a_process_group(tmp_path: Path) -> None:
    store = dist.FileStore(str(tmp_path / "store"), 1)
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        x, program = torch.ones(4), Program()
        with Trace(program):
            y = x * 2.0
            dist.all_reduce(y)
            program.target("y", y + 1.0)
    finally:
        dist.destroy_process_group()
    save_capsule(tmp_path / "step", program, facts(), None)
    assert any(name.startswith("c10d::allreduce_") for name in program.recorded.names)
    result = run_capsule(load_capsule(tmp_path / "step"))
    assert result.parity == "bitwise"
    assert result.targets["y"].tolist() == [3.0] * 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_capsule(tmp_path / "step", recorded("tied"), facts(), None)
    return tmp_path / "step"


@pytest.mark.parametrize(
    "argument",
    [
        {"x": 1},
        {"t": 10**6},
        {"t": -1},
        {"t": "a"},
        {"f": "abc"},
        {"d": "load"},
        {"v": "nowhere"},
        {"g": 5},
        {"m": "x"},
        {"t": 1, "f": "0x1"},
        1.5,
    ],
)
def test_a_damaged_argument_is_one_clear_error(folder: Path, argument: object) -> None:
    capsule = load_capsule(folder)
    capsule.program.ops[3].args[0] = argument
    with pytest.raises(CapsuleError) as error:
        run_capsule(capsule)
    assert "\n" not in str(error.value)


def test_the_state_of_this_process_is_left_as_it_was(folder: Path) -> None:
    torch.manual_seed(11)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    capsule = load_capsule(folder)
    capsule.head = msgspec.structs.replace(
        capsule.head, flags=msgspec.structs.replace(capsule.head.flags, threads=threads + 1)
    )
    run_capsule(capsule)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()


def test_one_changed_input_is_seen_in_the_parity(folder: Path) -> None:
    capsule = load_capsule(folder)
    number = capsule.program.refs[dict(capsule.program.labels)["parameter embedding.weight"]].storage
    capsule.blobs[f"storage/{number}"].view(torch.float32)[0] += 0.5
    result = run_capsule(capsule)
    assert result.parity.startswith("0 of 3 bitwise, largest relative difference")
    assert all(gap is not None and gap > 0 for gap in result.distance.values())


@pytest.mark.parametrize(
    ("dtype", "device", "words"),
    [
        ("int8", "cpu", "--dtype int8 is not known"),
        (None, "cuda:99", "--device cuda:99 cannot be used here"),
        (None, "toaster", "--device toaster"),
    ],
)
def test_what_this_machine_cannot_do_is_one_clear_error(
    folder: Path, dtype: str | None, device: str, words: str
) -> None:
    with pytest.raises(CapsuleError, match=words):
        run_capsule(load_capsule(folder), dtype=dtype, device=device)


def test_inputs_that_the_step_read_are_named_to_the_observers(folder: Path) -> None:
    class Named:
        names: dict[str, list[float]] = {}

        def label(self, tensor: torch.Tensor, name: str) -> None:
            self.names[name] = tensor.flatten()[:2].tolist()

        def before(self, func, args, kwargs) -> None: ...  # type: ignore[no-untyped-def]
        def after(self, func, args, kwargs, out, meta) -> None: ...  # type: ignore[no-untyped-def]

    named, program = Named(), recorded("tied")
    program.name(torch.ones(3), "buffer unused")
    save_capsule(folder.with_name("named"), program, facts(), None)
    result = run_capsule(load_capsule(folder.with_name("named")), observers=[named])
    assert set(named.names) == set(result.inputs) == {"batch[0]", "parameter embedding.weight"}
