from __future__ import annotations

import torch

from debugtracer.recorder.capsule.program import Program
from tests.recorder.steps import Trace


def storage_of(program: Program, label: str) -> torch.Tensor:
    ref = dict(program.recorded.labels)[label]
    return program.blobs()[f"storage/{program.recorded.refs[ref].storage}"]


def test_an_input_is_kept_as_it_was_before_the_step_wrote_to_it() -> None:
    x, program = torch.ones(4), Program()
    program.name(x, "x")
    with Trace(program):
        x.mul_(3.0)
    assert storage_of(program, "x").view(torch.float32).tolist() == [1.0] * 4
    assert x.tolist() == [3.0] * 4


def test_a_view_and_its_base_are_one_storage() -> None:
    x, program = torch.arange(6.0), Program()
    with Trace(program):
        x.view(2, 3)[1].add_(1.0)
        x.sum()
    assert len([row for row in program.finish().storages if row.start is not None]) == 1
    assert len(program.recorded.storages) == 2


def test_only_the_part_of_a_data_set_that_is_used_is_kept() -> None:
    data, program = torch.arange(1_000_000.0), Program()
    early, late = data[500_000:500_008], data[500_100:500_108]
    with Trace(program):
        early + late
    assert program.storages.copied < 2048
    [row] = [row for row in program.finish().storages if row.start is not None]
    kept = program.blobs()["storage/0"].view(torch.float32)
    assert row.nbytes == 4_000_000
    assert kept[(500_000 * 4 - row.start) // 4] == 500_000
    assert kept[-1] == 500_107


def test_intermediate_values_are_not_kept_alive() -> None:
    class Alive(Program):
        def __init__(self) -> None:
            super().__init__()
            self.alive: list[int] = []

        def before(self, func, args, kwargs):  # type: ignore[no-untyped-def]
            super().before(func, args, kwargs)
            self.alive.append(sum(not kept.weak.expired() for kept in self.storages.kept))

    x, program = torch.ones(1000), Alive()
    with Trace(program):
        for _ in range(50):
            x = x + 1.0
    assert max(program.alive) <= 4
    assert len(program.storages.kept) == 51


def test_a_result_that_nobody_read_before_is_made_and_an_input_never_becomes_one() -> None:
    x, program = torch.ones(4), Program()
    with Trace(program):
        y = x + 1.0
        y.mul_(2.0)
        x.mul_(3.0)
    assert [(kept.made, kept.row.start is None) for kept in program.storages.kept] == [(False, False), (True, True)]
