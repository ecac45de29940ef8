"""Buffers of real loops, with and without copies."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from debugtracer.trace.facts.stored_alias import StoredAlias
from tests.observers.observing import observed


class Walk:
    """A point that is pushed about; its state is written in place."""

    def __init__(self, copies: bool, first: bool = False) -> None:
        self.copies, self.first = copies, first or copies
        self.state: Any = np.zeros(3, dtype=np.float32)

    def reset(self) -> Any:
        self.state = np.zeros(3, dtype=np.float32)
        return self.state.copy() if self.first else self.state

    def step(self) -> Any:
        self.state += np.float32(0.1)
        self.state[0] = random.random()
        return self.state.copy() if self.copies else self.state


class Buffer:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.data: deque[Any] = deque(maxlen=500)

    def push(self, *entry: Any) -> None:
        self.data.append(entry)

    def push_named(self, before: Any, reward: float, after: Any) -> None:
        self.data.append({"before": before, "reward": reward, "after": after})


def learn(copies: bool, named: bool = False) -> None:
    torch.manual_seed(0)
    random.seed(0)
    walk, buffer, q = Walk(copies), Buffer(), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
    for _ in range(6):
        state = walk.reset()
        for _ in range(10):
            after = walk.step()
            (buffer.push_named if named else buffer.push)(state, 1.0, after)
            state = after
        if len(buffer.data) < 30:
            continue
        sample = [tuple(e.values()) if named else e for e in random.sample(buffer.data, 16)]
        s, _, n = zip(*sample, strict=True)
        with torch.no_grad():
            goal = 1 + 0.9 * q(torch.from_numpy(np.stack(n)))
        loss = nn.functional.mse_loss(q(torch.from_numpy(np.stack(s))), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("named", [False, True])
def test_a_buffer_of_one_array(tmp_path: Path, named: bool):
    (fact,) = observed(tmp_path / "runs", lambda: learn(copies=False, named=named), StoredAlias)
    assert (fact.container, fact.held_by, fact.rows) == ("Buffer.data", "Walk.state", 16)
    assert fact.places == (("before", "after") if named else ("0", "2"))
    assert fact.entries == 10 and fact.distinct <= 3
    assert fact.frame is not None and fact.frame.code.startswith("self.data.append(")
    assert fact.write_frame is not None and fact.write_frame.code == "self.state += np.float32(0.1)"


def test_a_buffer_of_copies_is_silent(tmp_path: Path):
    assert observed(tmp_path / "runs", lambda: learn(copies=True), StoredAlias) == []


class OfPairs(nn.Module):
    """Takes a state and an action as one argument."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 1)

    def forward(self, pair: tuple[torch.Tensor, Any]) -> torch.Tensor:
        value: torch.Tensor = self.inner(pair[0])
        return value


@pytest.mark.parametrize("copies", [False, True])
def test_tensors_made_of_one_array_are_one(tmp_path: Path, copies: bool):
    def loop() -> None:
        torch.manual_seed(0)
        walk, buffer, q = Walk(copies), Buffer(), OfPairs()
        optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
        for _ in range(6):
            state = torch.tensor(walk.reset()).unsqueeze(0)
            for _ in range(12):
                after = torch.from_numpy(walk.step()).unsqueeze(0)
                buffer.push(state, after)
                state = after
            s, n = zip(*random.sample([*buffer.data], 10), strict=True)
            loss = (q((torch.cat(s), None)) - q((torch.cat(n), None)).detach()).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    told = observed(tmp_path / "runs", loop, StoredAlias)
    assert [(fact.container, fact.places, fact.held_by) for fact in told] == (
        [] if copies else [("Buffer.data", ("0", "1"), "Walk.state")]
    )


def test_two_batches_that_are_one(tmp_path: Path):
    def loop() -> None:
        walk, buffer, q = Walk(copies=False), Buffer(), nn.Linear(3, 1)
        optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
        for _ in range(40):
            state = walk.reset()
            for _ in range(9):
                after = walk.step()
                buffer.push(state, after)
                state = after
        for _ in range(3):
            s, n = zip(*random.sample([*buffer.data][::9], 20), strict=True)
            with torch.no_grad():
                goal = q(torch.from_numpy(np.stack(n)))
            loss = (q(torch.from_numpy(np.stack(s))) - goal).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    (fact,) = observed(tmp_path / "runs", loop, StoredAlias)
    assert fact.twice and fact.distinct > 10 and fact.places == ("0", "1")


def policy(store: Callable[[Any], Any], write: bool) -> Callable[[], None]:
    """States of an episode in a plain list."""

    def loop() -> None:
        torch.manual_seed(0)
        net = nn.Linear(2, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
        place = torch.zeros(2)
        for _ in range(5):
            states = []
            for _ in range(12):
                states.append(store(place))
                if write:
                    place += torch.randn(2)
            loss = net(torch.stack(states)).log_softmax(1)[:, 0].mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return loop


def test_a_list_whose_array_has_other_values_later(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", policy(lambda place: place, write=True), StoredAlias)
    assert (fact.container, fact.places, fact.changed, fact.distinct) == ("states", (), True, 1)
    assert fact.frame is not None and fact.frame.code == "states.append(store(place))"


def test_one_state_that_stays_is_silent(tmp_path: Path):
    assert observed(tmp_path / "runs", policy(lambda place: place, write=False), StoredAlias) == []
    assert observed(tmp_path / "other", policy(lambda place: place.clone(), write=True), StoredAlias) == []


class Maze:
    """A goal that is one array for all, and states that come again."""

    def __init__(self) -> None:
        self.goal = np.ones(2, dtype=np.float32)
        self.seen: list[Any] = []

    def visit(self) -> None:
        self.seen.append((np.float32([random.randrange(3), 1]), self.goal))


def test_a_goal_that_is_not_written_to_is_silent(tmp_path: Path):
    def loop() -> None:
        maze, net = Maze(), nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
        for _ in range(4):
            for _ in range(20):
                maze.visit()
            rows = np.stack([np.concatenate(e) for e in random.sample(maze.seen, 16)])
            loss = net(torch.from_numpy(rows)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert observed(tmp_path / "runs", loop, StoredAlias) == []


class Columns:
    """Copies what it is given into arrays."""

    def __init__(self) -> None:
        self.before, self.after = np.zeros((200, 3), dtype=np.float32), np.zeros((200, 3), dtype=np.float32)
        self.count = 0

    def push(self, before: Any, after: Any) -> None:
        self.before[self.count] = before
        self.after[self.count] = after
        self.count += 1


def learn_columns(copies: bool, keep: bool = True, first: bool = False) -> None:
    walk, store, q = Walk(copies, first), Columns(), nn.Linear(3, 1)
    optimizer = torch.optim.SGD(q.parameters(), lr=1e-3)
    for _ in range(6):
        state = walk.reset()
        for _ in range(10):
            after = walk.step()
            store.push(state, after)
            state = after
        if not keep:
            state = after = None
        rows = np.random.randint(store.count, size=16)
        with torch.no_grad():
            goal = 1 + 0.9 * q(torch.from_numpy(store.after[rows]))
        loss = nn.functional.mse_loss(q(torch.from_numpy(store.before[rows])), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def test_columns_that_were_one_array(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: learn_columns(copies=False), StoredAlias)
    assert (fact.container, fact.columns, fact.entries) == ("Columns", ("before", "after"), 10)
    assert fact.held_by == "Walk.state" and fact.twice
    assert fact.returned is not None and "self.state" in fact.returned.code


def test_columns_that_two_arguments_were_written_to(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: learn_columns(copies=False, keep=False), StoredAlias)
    assert fact.held_by == "" and fact.frame is not None and fact.frame.code == "self.before[self.count] = before"


def test_columns_that_differ_in_the_first_row_of_an_episode(tmp_path: Path):
    (fact,) = observed(tmp_path / "runs", lambda: learn_columns(copies=False, first=True), StoredAlias)
    assert (fact.columns, fact.held_by, fact.unequal) == (("before", "after"), "Walk.state", fact.entries // 10)


def test_columns_of_copies_are_silent(tmp_path: Path):
    assert observed(tmp_path / "runs", lambda: learn_columns(copies=True), StoredAlias) == []


def test_a_teacher_and_a_student_of_one_batch_are_silent(tmp_path: Path):
    class Pictures:
        """The same pictures, once to be reconstructed."""

        def __init__(self) -> None:
            self.given = np.random.rand(64, 3).astype(np.float32)
            self.wanted = self.given.copy()

    def loop() -> None:
        pictures, teacher, student = Pictures(), nn.Linear(3, 2), nn.Linear(3, 2)
        optimizer = torch.optim.SGD(student.parameters(), lr=1e-3)
        for _ in range(4):
            rows = np.random.randint(64, size=16)
            with torch.no_grad():
                goal = teacher(torch.from_numpy(pictures.wanted[rows]))
            loss = nn.functional.mse_loss(student(torch.from_numpy(pictures.given[rows])), goal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    assert observed(tmp_path / "runs", loop, StoredAlias) == []
