"""Forks and multiprocessing children of a watched program."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from debugtracer import session
from debugtracer.integrations.children import is_loader_worker, recording
from debugtracer.trace.events import Crashed, RankEnded
from debugtracer.trace.store.reader import open_trace
from tests.watching import LogHead, batches, seeded, train, under_watch


def test_a_forked_child_writes_a_folder_of_its_own_and_leaves_the_parent_s_alone(tmp_path):
    with under_watch(tmp_path):
        train(seeded(LogHead), batches(3))
        child = os.fork()
        if child == 0:
            train(seeded(LogHead), batches(2))
            session.stop()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        train(seeded(LogHead), batches(1))
    trace = open_trace(tmp_path)
    assert [trace.series("loss", rank=r)[0] for r in (0, 1)] == [[0, 1, 2, 3], [0, 1]]


def test_the_exception_of_a_child_is_recorded_and_raised_as_it_was(tmp_path):
    def run() -> None:
        train(seeded(LogHead), batches(2))
        raise KeyError("mine")

    with under_watch(tmp_path), pytest.raises(KeyError, match="mine"):
        recording(run)()
    told = open_trace(tmp_path).events()
    assert [e.error for e in told if isinstance(e, Crashed)] == ["KeyError"]
    assert [e.steps for e in told if isinstance(e, RankEnded) and e.final] == [2]


def test_what_a_run_returns_is_returned():
    assert recording(lambda: 5)() == 5


def test_only_torch_s_own_worker_loop_is_a_loader_worker():
    from torch.utils.data._utils.worker import _worker_loop

    assert is_loader_worker(multiprocessing.Process(target=_worker_loop))
    assert not is_loader_worker(multiprocessing.Process(target=print))
    assert not is_loader_worker(multiprocessing.Process())
