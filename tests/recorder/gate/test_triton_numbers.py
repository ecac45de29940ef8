"""The kernels of the gate: by Triton's interpreter beside torch's operators, and compiled for GPUs that are not there.

scripts/setup.sh puts Triton beside the environment, in .venv/triton: inside it torch would look at it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer import errors
from debugtracer.recorder.gate.device_numbers import DeviceNumbers
from debugtracer.recorder.gate.triton_numbers import TABLES, TritonNumbers, is_packed

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TRITON = Path(sys.prefix) / "triton"
EXACT = ("loss", "loss nan", "nan", "inf", "half inf")
OVERFLOWING = {"largest": 3e38, "double": 4.2593674659729e200}

beside = pytest.mark.skipif(
    not (TRITON / "triton").is_dir(), reason="needs Triton in .venv/triton (scripts/setup.sh test)"
)


def said_by(program: str, work: Path, **environment: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "programs" / program)],
        env=os.environ
        | {"PYTHONPATH": f"{ROOT / 'src'}:{TRITON}", "TRITON_CACHE_DIR": str(work), "DEBUG_TRACER_STRICT": "1"}
        | environment,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@beside
def test_the_kernels_say_what_torch_says(tmp_path: Path) -> None:
    said = said_by("measures.py", tmp_path, TRITON_INTERPRET="1")
    assert said.pop("nothing") == [True, True, False] and said.pop("l2") == [5.0]
    assert len(said) == 20
    for name, (ours, theirs, again) in said.items():
        assert str(ours) == str(again), name
        assert str(ours[1:]) == str(theirs[1:]), name
        if name in OVERFLOWING:  # squares beyond the dtype of values that are finite
            assert theirs[0] == math.inf and ours[0] == pytest.approx(OVERFLOWING[name], rel=1e-6)
        elif name in EXACT:
            assert math.isfinite(ours[0]) == math.isfinite(theirs[0])
        else:
            assert ours[0] == pytest.approx(theirs[0], rel=1e-5), name  # torch sums halves coarsely


@beside
def test_both_compile_for_gpus_and_read_widely_what_is_aligned(tmp_path: Path) -> None:
    said = said_by("compiles.py", tmp_path)
    assert len(said) == 12 and all(kernel["bytes"] > 1000 for kernel in said.values())
    assert [name for name, kernel in said.items() if kernel["wide"]] == [
        f"{kind} {capability}" for capability in (80, 90) for kind in ("float32", "float16", "bfloat16")
    ]


def test_without_triton_torch_s_operators_answer_and_the_failure_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    monkeypatch.setattr(errors, "failures", {})
    monkeypatch.setitem(sys.modules, "triton", None)
    kernels, gradients = TritonNumbers({"cpu"}), [torch.tensor([3.0, 4.0])]
    ours, theirs = (one.judged(gradients, [], None, True) for one in (kernels, DeviceNumbers()))
    assert ours is not None and theirs is not None and torch.equal(ours.numbers, theirs.numbers)
    assert kernels.off and kernels.l2(gradients) == 5.0
    assert [failure.count for failure in errors.failures.values()] == [1]


def test_the_host_is_left_to_torch() -> None:
    kernels = TritonNumbers()
    assert kernels.l2([torch.tensor([3.0, 4.0])]) == 5.0 and not kernels.off


def test_chunks_cover_every_element_once_and_few_lists_are_remembered() -> None:
    kernels, place = TritonNumbers({"cpu"}), torch.device("cpu")
    owners, offsets, counts = kernels.chunks_of(place, [torch.empty(n) for n in (3, 8, 9, 16, 1)], 8)
    assert owners.tolist() == [0, 1, 2, 2, 3, 3, 4]
    assert offsets.tolist() == [0, 0, 0, 8, 0, 8, 0] and counts.tolist() == [3, 8, 8, 1, 8, 8, 1]
    for n in range(2 * TABLES):
        kernels.chunks_of(place, [torch.empty(n + 1)], 8)
        kernels.pointers_of(place, [torch.empty(n + 1)])
    assert len(kernels.chunks) == len(kernels.addresses) == TABLES


def test_addresses_are_sent_again_where_a_tensor_has_moved() -> None:
    kernels, place = TritonNumbers({"cpu"}), torch.device("cpu")
    one, two = torch.zeros(4), torch.zeros(4)
    first = kernels.pointers_of(place, [one])
    assert kernels.pointers_of(place, [one]) is first and first.tolist() == [one.data_ptr()]
    assert kernels.pointers_of(place, [two]).tolist() == [two.data_ptr()]


@pytest.mark.parametrize(
    ("tensor", "packed"),
    [
        (torch.zeros(4, 6), True),
        (torch.zeros(4, 6).t(), False),
        (torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last), True),
        (torch.zeros(1, 2, 3, 4, 5).to(memory_format=torch.channels_last_3d), True),
        (torch.zeros(20)[::2], False),
    ],
)
def test_what_fills_one_block_of_memory(tensor: torch.Tensor, packed: bool) -> None:
    assert is_packed(tensor) is packed
