"""Work in a forked child: what it changes is gone with it, what reaches beyond it is refused."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from debugtracer.errors import ReplayRefused
from debugtracer.replay.fetch.child import in_child, is_data

CHANGED: list[int] = []


def test_the_answer_comes_back():
    assert in_child(lambda: {"x": (1, 2.5)}, 10.0) == {"x": (1, 2.5)}


def test_what_the_child_changes_is_gone_with_it():
    before = torch.get_rng_state()
    in_child(lambda: (CHANGED.append(1), torch.rand(3), random.random())[0], 10.0)
    assert CHANGED == []
    assert torch.equal(torch.get_rng_state(), before)


def test_the_child_draws_the_numbers_that_the_parent_would_draw():
    random.seed(4)
    torch.manual_seed(4)
    told = in_child(lambda: (random.random(), float(torch.rand(()))), 10.0)
    assert told == (random.random(), float(torch.rand(())))


def test_an_open_file_stands_where_it_stood(tmp_path: Path):
    file = tmp_path / "data.bin"
    file.write_bytes(bytes(range(200)))
    with file.open("rb", buffering=0) as opened:
        opened.seek(50)
        assert in_child(lambda: opened.read(20), 10.0) == bytes(range(50, 70))
        assert opened.tell() == 50


def connects() -> Any:
    return socket.create_connection(("127.0.0.1", 9), timeout=1)


@pytest.mark.parametrize(
    ("work", "why"),
    [
        (lambda: Path("/tmp/debug-tracer-never-written").write_text("x"), "writes a file"),
        (lambda: os.remove("/tmp/debug-tracer-never-written"), "moves or removes files"),
        (lambda: subprocess.run([sys.executable, "-V"], check=False), "starts another program"),
        (connects, "opens a connection"),
        (lambda: 1 / 0, "raised ZeroDivisionError"),
        (lambda: sys.exit(3), "raised SystemExit"),
        (lambda: time.sleep(30), "takes longer than 0.5 s"),
        (lambda: os._exit(1), "died"),
        (lambda: bytes(3_000_000), "too long"),
    ],
)
def test_what_reaches_beyond_the_child_or_fails_is_refused_with_the_reason(work: Callable[[], Any], why: str):
    with pytest.raises(ReplayRefused, match=why):
        in_child(work, 0.5 if "longer" in why else 20.0)
    assert not Path("/tmp/debug-tracer-never-written").exists()


def test_a_file_that_is_open_for_writing_does_not_grow(tmp_path: Path):
    with (tmp_path / "log.txt").open("a") as log:
        log.write("before\n")
        log.flush()
        in_child(lambda: (log.write("again\n"), log.flush())[0], 10.0)
    assert (tmp_path / "log.txt").read_text() == "before\n"


def test_no_child_is_left():
    before = children()
    in_child(lambda: 1, 10.0)
    assert children() == before


def children() -> set[str]:
    """The processes that this one has started, those that ended and were not waited for among them."""
    return {pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()}


def test_on_another_system_it_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(ReplayRefused, match="Linux only"):
        in_child(lambda: 1, 1.0)


@pytest.mark.parametrize(("path", "data"), [("/data/x.npy", True), ("/data/x.py", False), ("/proc/stat", False)])
def test_sources_are_no_data(path: str, data: bool):
    assert is_data(path) is data


@pytest.mark.parametrize(("backend", "refused"), [("gloo", False), ("nccl", True), ("mpi", True)])
def test_beside_ranks_that_a_fork_can_damage_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, backend: str, refused: bool
):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_backend", lambda: backend)
    if refused:
        with pytest.raises(ReplayRefused, match="beside NCCL or MPI"):
            in_child(lambda: 1, 10.0)
    else:
        assert in_child(lambda: 1, 10.0) == 1
