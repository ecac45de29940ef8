"""A skipped update leaves nothing behind: weights, moments and buffers go on as if the batch had not come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.responses.bad_step import BadStep
from debugtracer.responses.budget import ROW, Budget
from debugtracer.responses.skip_update import SkipUpdate
from tests.conftest import ROOT
from tests.responses.loops import OPTIMIZERS, Loop, actions, given, twins
from tests.watching import same_bits, under_watch

MODEL = nn.Linear(2, 1)
OPTIMIZER = torch.optim.SGD(MODEL.parameters(), lr=0.1)


def all_the_same(a: Loop, b: Loop) -> bool:
    return all(same_bits(x, y) for x, y in zip(a.state(), b.state(), strict=True))


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("mode", ["val", "prod"])
def test_training_goes_on_bitwise_as_without_the_batch(tmp_path: Path, name: str, mode: str) -> None:
    watched, bare = twins(tmp_path, given(12, (5, 9)), mode, make=OPTIMIZERS[name])
    assert all_the_same(watched, bare)
    assert [(a.action, a.step) for a in actions(tmp_path)] == [("skip-update", 5), ("skip-update", 9)]


def test_the_first_batch_of_all_may_be_bad(tmp_path: Path) -> None:
    watched, bare = twins(tmp_path, given(6, (0,)))
    assert all_the_same(watched, bare)


@pytest.mark.parametrize("bad", [4, 5, 6])
def test_a_window_of_accumulation_is_skipped_whole(tmp_path: Path, bad: int) -> None:
    watched, bare = twins(tmp_path, given(12, (bad,)), accumulate=3)
    assert all_the_same(watched, bare)
    assert [a.step for a in actions(tmp_path)] == [bad // 3]


@pytest.mark.parametrize("mode", ["observe", "dev"])
def test_other_modes_do_nothing_of_the_kind(tmp_path: Path, mode: str) -> None:
    with under_watch(tmp_path, mode):
        loop = Loop()
        try:
            loop.go(given(8, (5,)))
        except SystemExit:
            assert mode == "dev"
    assert [a.action for a in actions(tmp_path)] == (["stop"] if mode == "dev" else [])
    assert mode == "dev" or bool(torch.stack([p.isnan().any() for p in loop.model.parameters()]).all())


@pytest.mark.parametrize("bad", [70, 100, 141])
def test_nothing_is_left_behind_while_everything_rests(tmp_path: Path, bad: int) -> None:
    """A balance that is spent at once: the tape and the observers rest after the first steps."""
    from debugtracer.recorder import governor

    batches = given(150, (bad,))
    with under_watch(tmp_path, "prod", cost=0.0) as session:
        session.governor.balance_s = -governor.DEBT_S
        watched = Loop()
        watched.go(batches[:60])
        session.governor.balance_s = -governor.DEBT_S
        watched.go(batches[60:])
        assert session.tape.current.rested or session.state.rested
    bare = Loop(passes=True)
    bare.go(batches)
    assert all_the_same(watched, bare)
    assert [a.step for a in actions(tmp_path)] == [bad]


def bad_step(**changes: Any) -> BadStep:
    return BadStep(step=50, iteration=50, optimizer=OPTIMIZER, loss=float("nan"), **changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"weights": True}, "the weights themselves"), ({"written": True}, "written already"), ({"obstacle": "so"}, "so")],
)
def test_it_is_refused_where_it_cannot_help(changes: dict[str, Any], why: str) -> None:
    assert why in SkipUpdate().refuses(bad_step(**changes), Budget(), None)  # type: ignore[arg-type]


def test_it_is_refused_after_a_row_of_bad_steps() -> None:
    budget = Budget()
    for step in range(ROW):
        assert not SkipUpdate().refuses(bad_step(), budget, None)  # type: ignore[arg-type]
        budget.saw_bad(step, step)
    assert "in a row" in SkipUpdate().refuses(bad_step(), budget, None)  # type: ignore[arg-type]


DRAWS = """
import random
import torch
from torch import nn
random.seed(0); torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(8, 4)
    x[0, 0] = float("nan") if step == 7 else 0.0
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(random.random())
"""


@pytest.mark.sweep
def test_the_verdict_that_is_shown_draws_nothing_of_the_programs(tmp_path: Path) -> None:
    """In a process that has imported nothing for it yet: a forked one has."""
    script = tmp_path / "draws.py"
    script.write_text(DRAWS)
    start = [sys.executable, "-m", "debugtracer", "run", "--mode", "prod"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    bare, watched = (
        subprocess.run([*words, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        for words in ([sys.executable], start)
    )
    assert "its update was left out" in watched.stderr
    assert watched.stdout == bare.stdout
