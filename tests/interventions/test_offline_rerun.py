"""What an intervention sees of a recorded step."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from debugtracer.interventions.offline_rerun import as_argument, bare, number_of
from debugtracer.replay.offline.attempt import tape_of
from tests.replay.capsules import incident


def test_inputs_batch_floats_and_place_of_a_recorded_step(tmp_path: Path) -> None:
    x, y, w = torch.tensor([[1.0], [0.0], [2.0]]), torch.tensor([1, 0, 1]), torch.ones(1, requires_grad=True)
    inputs = {"batch[0]": x, "batch[1]": y, "batch[2]": torch.ones(3), "parameter w": w}
    tape = tape_of(incident(tmp_path, lambda: (torch.log(x * w).squeeze(1) * y.half()).sum(), inputs, rows=3))
    # the step did not read batch[2]
    assert [label for label, _ in tape.inputs] == ["batch[0]", "batch[1]", "parameter w"]
    assert [label for label, _ in tape.batch()] == ["batch[0]", "batch[1]"]
    assert tape.floats() == {"float16", "float32"}
    assert tape.guilty_place().startswith("test_offline_rerun.py:")
    value = tape.value(dict(tape.inputs)["batch[0]"])
    assert torch.equal(value, x)
    value.zero_()
    assert torch.equal(tape.value(dict(tape.inputs)["batch[0]"]), x)
    assert "log" in [name for _, _, name, _ in tape.ops()]
    first = dict(tape.inputs)["batch[0]"]
    count = len(tape.program.refs)
    assert tape.window({"t": 0}) is tape.program.refs[0]
    assert tape.window({"t": count - 1}) is tape.program.refs[count - 1]
    assert [tape.window(v) for v in ({"t": count}, {"t": -1}, {"t": None}, {"t": "0"}, {}, 0, first)] == [None] * 7
    tape.birth = None
    assert tape.guilty_place() == "the step"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("aten::div_.Tensor", "div"),
        ("aten::_foreach_add_.List", "add"),
        ("aten::native_layer_norm.default", "native_layer_norm"),
    ],
)
def test_bare_names(name: str, short: str) -> None:
    assert bare(name) == short


def test_numbers_among_encoded_arguments() -> None:
    assert number_of(as_argument(1e-6)) == 1e-6
    assert number_of(as_argument(-math.inf)) == -math.inf
    assert number_of(3) == 3.0
    assert [number_of(v) for v in (True, None, {"t": 1}, {"f": "xyz"}, [1], "1")] == [None] * 6
