from __future__ import annotations

import pytest
import torch

from debugtracer.recorder.capsule.program import Program, digest, sample
from debugtracer.trace.birth import Frame
from debugtracer.trace.op import OpMeta
from tests.recorder.steps import STEPS, Trace, recorded


def ops(program: Program) -> list[str]:
    return [program.recorded.names[row.op] for row in program.recorded.ops]


def test_floats_are_exact_and_may_be_infinite() -> None:
    program = Program()
    with Trace(program):
        torch.zeros(2).masked_fill(torch.tensor([True, False]), float("-inf")) * 0.1
    args = [row.args for row in program.recorded.ops]
    assert {"f": "-inf"} in args[-2]
    assert {"f": (0.1).hex()} in args[-1]


def test_profiler_ops_are_left_out() -> None:
    program = Program()
    with Trace(program), torch.profiler.record_function("mine"):
        torch.ones(2)
    assert ops(program) == ["aten::ones.default"]
    assert program.refused is None


def test_places_and_frames_are_written_once() -> None:
    program, frame = Program(), Frame("/train.py", 61, "forward", "loss = x.log()")
    x = torch.ones(2)
    for index in range(3):
        program.before(torch.ops.aten.log.default, (x,), {})
        program.after(
            torch.ops.aten.log.default,
            (x,),
            {},
            x.log(),
            OpMeta(index=index, op="aten::log", module="head", frames=(frame,)),
        )
    assert program.recorded.frames == [frame]
    assert len(program.recorded.places) == 1
    assert program.recorded.meta(program.recorded.ops[2]) == OpMeta(
        index=2, op="aten::log", module="head", frames=(frame,)
    )


def test_targets_are_values_of_their_moment_and_leave_no_op_behind() -> None:
    x, program = torch.ones(3), Program()
    with Trace(program):
        y = x + 1.0
        program.target("y", y)
        y.zero_()
    assert len(program.recorded.ops) == 2
    assert program.recorded.targets[0].at == 1
    assert program.recorded.targets[0].sha256 == digest(torch.full((3,), 2.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: torch.eye(3).to_sparse() * 2, "layout sparse_coo"),
        (lambda: torch.ones(2, device="meta") * 2, "device meta"),
    ],
)
def test_what_cannot_be_written_down_is_refused_by_name(make, words) -> None:  # type: ignore[no-untyped-def]
    program = Program()
    with Trace(program):
        make()
    assert program.refused is not None
    assert "operator aten." in program.refused
    assert words in program.refused


def test_a_custom_operator_is_refused_and_the_step_goes_on() -> None:
    with torch.library._scoped_library("mine", "DEF") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
        program = Program()
        with Trace(program):
            assert torch.ops.mine.twice(torch.ones(1)).item() == 2
    assert program.refused == "the operator mine.twice.default is opaque (not one of torch's own)"


def test_a_step_over_the_budget_is_refused() -> None:
    program = Program(max_bytes=1000)
    with Trace(program):
        torch.zeros(4).add_(1)
        torch.ones(1000).add_(1)
        assert BIG.sum() + BIG.exp().numel() + ALSO.sum() == 3000
    program.finish()
    assert program.refused == "too large: its inputs are 8,000 bytes, the budget is 1,000"
    assert program.blobs() == {}


BIG, ALSO = torch.ones(1000), torch.ones(1000)


def test_every_step_records_without_refusal() -> None:
    assert {name: recorded(name).refused for name in STEPS} == dict.fromkeys(STEPS)


def test_targets_of_one_name_are_numbered() -> None:
    program = Program()
    for value in range(3):
        program.target("output", torch.tensor(float(value)))
    assert [target.name for target in program.recorded.targets] == ["output", "output #2", "output #3"]


def test_a_sample_is_at_most_4096_values() -> None:
    assert sample(torch.zeros(100_001)).numel() <= 4096
    assert sample(torch.zeros(3, 3)).numel() == 9
