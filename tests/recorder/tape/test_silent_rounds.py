"""Calls beside root calls without a graph: a loop of many rounds is recorded in its first ones alone, what follows it
as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.recorder.tape.silent_rounds import KNOWN, MOST_SILENT, SilentRounds
from debugtracer.recorder.tape.step_tape import Tape
from tests.recorder.watched import Watched

ROUNDS = 40
PLACE = (compile("0", "agent.py", "exec"), 2)


def entries_of(watched: Watched) -> list[str]:
    return [getattr(e.function, "__name__", e.kind) for e in watched.tape.current.entries if e.kind in ("fn", "const")]


def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kinds of the entries that are opened from now on."""
    kinds: list[str] = []
    real = Tape.open

    def counted(self: Tape, kind: Any, *args: Any, **kwargs: Any) -> Any:
        kinds.append(kind)
        return real(self, kind, *args, **kwargs)

    monkeypatch.setattr(Tape, "open", counted)
    return kinds


def play(agent: nn.Module, seen: torch.Tensor, rounds: int = ROUNDS) -> None:
    for step in range(rounds):
        with torch.no_grad():
            action = (agent(torch.ones(1, 3)) * 0.5).argmax()
        seen[step] = action  # outside, as an agent that plays has it


def test_a_place_repeats_once_it_has_called_in_enough_rounds() -> None:
    rounds = SilentRounds()
    for number in range(KNOWN + 1):
        rounds.begin()
        assert rounds.repeats(PLACE) is (number == KNOWN)
    assert rounds.repeats(PLACE), "again in the same round"
    assert not rounds.repeats(None)
    rounds.reset()
    assert not rounds.repeats(PLACE) and not rounds.many


def test_a_loop_in_one_round_never_repeats() -> None:
    rounds = SilentRounds()
    rounds.begin()
    assert not any(rounds.repeats(PLACE) for _ in range(100))


def test_the_rounds_of_an_agent_that_plays_are_recorded_in_their_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, seen = nn.Linear(3, 2), torch.zeros(ROUNDS)
    with Watched() as watched:
        kinds = opened(monkeypatch)
        play(agent, seen)
        assert watched.tape.rounds.many
        assert kinds.count("fn") <= 3 * (MOST_SILENT + KNOWN + 2)
        assert kinds.count("module") == ROUNDS


def test_answers_counted_one_by_one_are_recorded_in_the_first_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, right = nn.Linear(3, 2), 0
    with Watched() as watched, torch.no_grad():
        kinds = opened(monkeypatch)
        for _ in range(ROUNDS):
            answers = agent(torch.ones(10, 3)).argmax(1)
            for row in range(10):
                right += int(answers[row] == 1)  # a method written in C names the class of its tensor
        assert watched.tape.rounds.many
        assert kinds.count("fn") <= 31 * (MOST_SILENT + KNOWN + 2)


def test_what_comes_after_the_rounds_is_recorded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, seen = nn.Linear(3, 2), torch.zeros(ROUNDS)
    with Watched() as watched:
        with torch.no_grad():
            play(agent, seen)
            last = agent(torch.ones(1, 3)).sum()
            for _ in range(10):
                last = last * 0.9 + 1
        told = [name.strip("_") for name in entries_of(watched)]
        assert told[-20:] == ["mul", "add"] * 10
        loss = (agent(torch.ones(1, 3)) - last).square().mean()
        assert watched.tape.slot(loss) is not None and watched.tape.slot(last) is not None


def test_an_update_lets_the_next_rounds_be_recorded_again() -> None:
    agent, seen = nn.Linear(3, 2), torch.zeros(ROUNDS)
    optimizer = torch.optim.SGD(agent.parameters(), lr=0.1)
    with Watched() as watched:
        with torch.no_grad():
            play(agent, seen)
        agent(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        assert watched.tape.rounds.number == 0


def train_of(agent: nn.Module) -> torch.Tensor:
    return agent(torch.ones(1, 3)).sum()


@pytest.mark.parametrize("before", [train_of])
def test_a_teacher_beside_a_graph_is_recorded_in_every_round(before: Callable[[nn.Module], torch.Tensor]) -> None:
    agent, teacher = nn.Linear(3, 2), nn.Linear(3, 2)
    with Watched() as watched:
        total = before(agent)
        for _ in range(ROUNDS):
            with torch.no_grad():
                target = teacher(torch.ones(1, 3)) * 0.5
            total = total + (agent(torch.ones(1, 3)) - target).sum()
        halves = [name for name in entries_of(watched) if "mul" in name]
        assert len(halves) == ROUNDS


def test_a_write_into_what_the_segment_holds_is_recorded_in_every_round() -> None:
    agent = nn.Linear(3, 2)
    with Watched() as watched, torch.no_grad():
        for _ in range(ROUNDS):
            agent(torch.ones(1, 3))
        kept = torch.ones(2)
        made = kept * 1.0
        for _ in range(KNOWN * 2):
            watched.tape.rounds.begin()
            kept.add_(1)
            made.add_(1)
        written = [name for name in entries_of(watched) if name in ("add_", "__iadd__")]
        assert len(written) == 2 * KNOWN * 2


def test_a_call_that_gives_a_graph_is_recorded_in_every_round() -> None:
    agent, scale = nn.Linear(3, 2), torch.ones((), requires_grad=True)

    with Watched() as watched:
        for given in [scale.detach()] * ROUNDS + [scale]:
            with torch.no_grad():
                agent(torch.ones(1, 3))
            last = given * 2  # one line, with and without a graph
        assert watched.tape.rounds.many
        assert watched.tape.slot(last) is not None
