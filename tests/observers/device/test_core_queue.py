"""The queue for a core."""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.device.core_queue import queue_s
from debugtracer.trace.facts.core_queue import CoreQueue
from tests.observers.observing import fit, observed

linux = pytest.mark.skipif(not os.path.exists("/proc/thread-self/schedstat"), reason="the system does not say")


@linux
def test_samples_follow_each_other(tmp_path):
    data = TensorDataset(torch.randn(50, 3), torch.arange(50) % 2)
    samples = observed(tmp_path, lambda: fit(DataLoader(data, 2)), CoreQueue)
    assert [fact.ref.step for fact in samples] == [1, 5, 10, 20]
    assert all(0 <= fact.queued_s <= fact.wall_s for fact in samples)


@linux
def test_a_core_shared_with_others_is_seen():
    cores = os.sched_getaffinity(0)
    code = f"import os; os.sched_setaffinity(0, {{{min(cores)}}})\nprint(flush=True)\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(3)]
    try:
        for other in others:
            assert other.stdout is not None
            other.stdout.readline()
        os.sched_setaffinity(0, {min(cores)})
        begun, before = perf_counter(), queue_s()
        while perf_counter() - begun < 0.5:
            pass
        after = queue_s()
        assert before is not None and after is not None
        assert after - before > 0.25 * 0.5
    finally:
        os.sched_setaffinity(0, cores)
        for other in others:
            other.kill()
            other.communicate()


def test_a_system_that_does_not_say_gives_nothing(monkeypatch):
    def missing(*_: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", missing)
    assert queue_s() is None
