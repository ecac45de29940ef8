"""Running, paused, ended, or lost: what a run says of itself, and whether its process is there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from debugtracer.trace.events import Acted, AnyEvent, RankEnded, RankStarted
from debugtracer.trace.store.liveness import liveness
from debugtracer.trace.store.manifest import Manifest


def acted(action: str) -> AnyEvent:
    return Acted(at=1.0, rank=0, iteration=3, step=3, action=action, reason="a person has asked for it")


def test_a_run_is_what_was_last_said(tmp_path: Path) -> None:
    here = Manifest(id="x", host=socket.gethostname(), pid=os.getpid())
    assert liveness(here, [], ()).status == "running"
    assert liveness(here, [acted("pause")], ()).status == "paused"
    assert liveness(here, [acted("pause"), acted("resume"), acted("skip-update")], ()).status == "running"
    assert liveness(here, [], (("a", 1, 1, 3_000_000_000), ("b", 1, 1, 2_000_000_000))).written_at == 3.0
    assert liveness(Manifest(id="x", status="ended"), [acted("pause")], ()).status == "ended"


def test_a_run_is_over_when_each_of_its_ranks_said_so() -> None:
    here = Manifest(id="x", host=socket.gethostname(), pid=os.getpid())
    started = [RankStarted(at=1.0, rank=rank, pid=1) for rank in (0, 1)]
    ended = [RankEnded(at=2.0, rank=rank, steps=1, iterations=1) for rank in (0, 1)]
    beat = RankEnded(at=2.0, rank=1, steps=1, iterations=1, final=False)
    assert liveness(here, [*started, ended[0]], ()).status == "running"
    assert liveness(here, [*started, ended[0], beat], ()).status == "running"
    assert liveness(here, [*started, *ended], ()).status == "ended"


def test_a_run_whose_process_is_gone_is_lost_but_not_one_of_another_machine() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert liveness(Manifest(id="x", host=socket.gethostname(), pid=gone.pid), [], ()).status == "lost"
    assert liveness(Manifest(id="x", host="elsewhere", pid=gone.pid), [], ()).status == "running"
