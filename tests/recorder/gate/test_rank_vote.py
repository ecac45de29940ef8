"""Ranks agree through a store: the sums, who does not come, and that nothing is asked after that."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from debugtracer.recorder.gate import rank_vote as vote_module
from debugtracer.recorder.gate.rank_vote import RankVote, trains_together


class Rank(RankVote):
    """A rank of three in one process, on a store of its own kind."""

    def __init__(self, store, number, own):
        super().__init__()
        self.one, self.rank, self.own = store, number, own

    def store(self):
        self.own.rank = self.rank  # asked in the thread of the rank, before its number is
        return self.one


@pytest.fixture
def three(monkeypatch):
    own = threading.local()
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: own.rank)
    store = torch.distributed.HashStore()
    return [Rank(store, number, own) for number in range(3)]


def asked(ranks, questions, patience_s=20.0):
    answers = {}
    threads = [
        threading.Thread(target=lambda n=n, bits=bits: answers.update({n: ranks[n].ask(bits, patience_s)}))
        for n, bits in enumerate(questions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[n] for n in range(len(questions))]


def test_every_rank_gets_the_same_sums(three):
    assert asked(three, [(True, False), (False, False), (True, True)]) == [(2, 1)] * 3
    assert asked(three, [(False, False)] * 3) == [(0, 0)] * 3
    assert asked(three, [(False, True)] * 3) == [(0, 3)] * 3


def in_common(ranks, numbers, patience_s=20.0):
    answers = {}
    threads = [
        threading.Thread(target=lambda n=n, own=own: answers.update({n: ranks[n].common(own, patience_s)}))
        for n, own in enumerate(numbers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[n] for n in range(len(numbers))]


def test_every_rank_learns_what_all_of_them_have(three):
    assert in_common(three, [(8, 16, 24), (16, 24), (24, 16, 40)]) == [{16, 24}] * 3
    assert in_common(three, [(8,), (), (8,)]) == [set()] * 3, "a rank that has nothing is heard too"
    assert asked(three, [(True,), (False,), (False,)]) == [(1,)] * 3, "votes and numbers are numbered together"


def test_numbers_of_a_rank_that_does_not_come_are_not_waited_for(three):
    assert in_common(three, [(8,), (8,)], patience_s=0.2) == [None, None]
    assert three[0].off and three[0].ask((True,)) is None


def test_a_rank_that_does_not_come_ends_the_questions_with_a_reason(three):
    begin = time.monotonic()
    assert asked(three, [(True,), (True,)], patience_s=0.2) == [None, None]
    assert "did not answer at a gate within 0 s" in three[0].off
    assert three[0].ask((True,)) is None and time.monotonic() - begin < 15


def heard(ranks, seconds, waits):
    """What each rank takes for the word; `waits` is what rank 0 does for it."""
    answers = {}
    threads = [
        threading.Thread(target=lambda n=n: answers.update({n: ranks[n].word_of_first(seconds, waits)}))
        for n in range(len(ranks))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[n] for n in range(len(ranks))]


def test_the_word_of_rank_0_is_that_of_all(three):
    assert heard(three, 9.0, lambda seconds: "resume" if seconds == 9.0 else "") == ["resume"] * 3
    assert heard(three, 0.0, lambda seconds: "resume") == ["stop"] * 3, "nobody is waited for"


def test_a_word_that_does_not_come_is_waited_for_so_long(three, monkeypatch):
    monkeypatch.setattr(vote_module, "MARGIN_S", 0.2)

    def never(seconds):
        raise OSError("the terminal is gone")

    assert heard(three, 0.1, never) == [None, "stop", "stop"]
    for rank in three[1:]:
        rank.work_s = 0.2
    assert [one.word_of_first(0.1, never) for one in three[1:]] == [None, None] and three[1].off


def test_one_that_looks_into_a_fault_is_waited_for_as_long_as_is_set(three):
    for rank in three:
        rank.work_s = 0.3
    answers = {}
    threads = [
        threading.Thread(target=lambda n=n: answers.update({n: three[n].ask_after_work((n == 1,))})) for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {0: None, 1: None} and three[0].off
    assert three[2].ask_after_work((False,)) == (1,), "the one that was slow hears what the others had said"


def test_one_process_trains_alone():
    assert not trains_together([nn.Linear(2, 2)])


class DistributedDataParallel(nn.Module):
    """Stands for torch's, of a group of so many ranks."""

    def __init__(self, ranks):
        super().__init__()
        self.process_group = type("Group", (), {"size": lambda self: ranks})()


@pytest.mark.parametrize(
    ("modules", "together"),
    [
        ([DistributedDataParallel(3)], True),
        ([nn.Linear(1, 1), DistributedDataParallel(3)], True),
        ([DistributedDataParallel(2)], False),
        ([nn.Linear(1, 1)], False),
        ([], False),
    ],
)
def test_ranks_train_together_where_a_wrapper_of_all_of_them_is_there(monkeypatch, modules, together):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    assert trains_together(modules) is together
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 1)
    assert not trains_together(modules)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: False)
    assert not trains_together(modules)


@pytest.mark.parametrize(("held", "ranks", "together"), [(True, 3, True), (True, 2, False), (False, 3, False)])
def test_ranks_train_together_where_parameters_lie_in_parts_on_all_of_them(monkeypatch, held, ranks, together):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 3)
    monkeypatch.setattr(vote_module, "holds_shards", lambda modules: held)
    module = nn.Linear(1, 1)
    module.weight.device_mesh = type("Mesh", (), {"size": lambda self: ranks})()
    assert trains_together([module]) is together


@pytest.mark.parametrize(("ranks", "group", "together"), [(1, 1, False), (2, 2, True), (3, 3, True), (3, 2, False)])
def test_modules_train_together_from_two_ranks_on_where_their_group_holds_all(monkeypatch, ranks, group, together):
    class DistributedDataParallel(nn.Module):
        process_group = SimpleNamespace(size=lambda: group)

    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: ranks)
    assert trains_together([DistributedDataParallel()]) is together
    assert trains_together([nn.Linear(1, 1)]) is False
