from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

from debugtracer.recorder.capsule.capsule import load_capsule, save_capsule
from debugtracer.recorder.capsule.program import Program
from debugtracer.replay.offline.rebirth import batch_rows, birth_offline, same_birth
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.incident import LoaderFacts
from tests.recorder.steps import Trace, facts

BIRTH = Birth(
    op="aten::log",
    direction="forward",
    kind="domain",
    module="head",
    frames=(Frame("/train.py", 61, "loss", "x.log()"),),
    rows=(3,),
)


def log_of_zero(folder: Path, label: str = "batch[0]", **extra: object) -> Path:
    x, program = torch.tensor([[0.5], [0.0], [2.0], [3.0]]), Program()
    program.name(x, label)
    with Trace(program):
        loss = x.log().mean()
    program.target("loss", loss)
    loader = LoaderFacts(dataset="Rows", batch_size=9)
    save_capsule(folder / "step", program, facts(loader=loader), None, dict(extra))
    return folder / "step"


def test_the_birth_of_a_recorded_step_is_found(tmp_path: Path) -> None:
    result, birth = birth_offline(load_capsule(log_of_zero(tmp_path)))
    assert result.parity == "bitwise"
    assert birth is not None
    assert (birth.op, birth.direction, birth.rows, birth.coordinates) == ("aten::log", "forward", (1,), ((1, 0),))
    assert [facts.name for facts in birth.inputs] == ["batch[0]"]


def test_the_rows_of_the_batch_are_those_of_the_run_then_of_its_first_tensor_then_of_the_loader(tmp_path: Path) -> None:
    for number, (label, extra, rows) in enumerate(
        [("batch[0]", {"batch_rows": 7}, 7), ("batch[0]", {}, 4), ("input[0]", {}, 9)]
    ):
        (tmp_path / str(number)).mkdir()
        assert batch_rows(load_capsule(log_of_zero(tmp_path / str(number), label, **extra))) == rows


@pytest.mark.parametrize(
    "change",
    [
        {"op": "aten::sqrt"},
        {"direction": "backward"},
        {"kind": "overflow"},
        {"module": None},
        {"rows": (2,)},
        {"frames": ()},
        {"frames": (Frame("/train.py", 60),)},
    ],
)
def test_another_op_place_or_row_is_another_birth(change: dict[str, object]) -> None:
    assert same_birth(BIRTH, BIRTH)
    assert not same_birth(msgspec.structs.replace(BIRTH, **change), BIRTH)


def test_what_was_not_born_is_not_the_same() -> None:
    assert not same_birth(None, BIRTH)
    assert not same_birth(BIRTH, None)
    assert not same_birth(None, None)


def test_values_that_differ_between_machines_do_not_make_another_birth() -> None:
    assert same_birth(msgspec.structs.replace(BIRTH, coordinates=((3, 0),), inner_op="aten::exp"), BIRTH)
