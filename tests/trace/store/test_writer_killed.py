"""A writer killed at any moment loses nothing that was acknowledged."""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.series import seal as sealing
from debugtracer.trace.store.series.seal import seal_run
from debugtracer.trace.store.writer import TraceWriter
from tests.trace.store.writing import loss, write

HERE = Path(__file__).parent
KILLS, AT_ONCE = 50, 10
SHM = Path("/dev/shm")


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a kill never loses what the page cache holds, and a slow disk would take
    minutes for 50 runs."""
    if not os.access(SHM, os.W_OK) or shutil.disk_usage(SHM).free < 64 * 2**20:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=SHM) as folder:
        yield Path(folder)


@pytest.fixture
def zygote() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, HERE / "writing.py", "zygote"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        bufsize=0,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def environment() -> dict[str, str]:
    import debugtracer

    return {**os.environ, "PYTHONPATH": str(Path(debugtracer.__file__).parents[1]), "DEBUG_TRACER_STRICT": "1"}


def killed_after(zygote: subprocess.Popen[bytes], run: Path, delay_s: float) -> int:
    """A writer of `run` is killed `delay_s` after its first acknowledged flush; returns the last acknowledged step."""
    assert zygote.stdin
    assert zygote.stdout
    assert zygote.stderr
    zygote.stdin.write(f"{run}\n".encode())
    pid = int(zygote.stderr.readline())
    try:
        acknowledged = struct.unpack("<q", zygote.stdout.read(8))[0]
        time.sleep(delay_s)
    finally:
        os.kill(pid, signal.SIGKILL)
        zygote.stdin.write(b"\n")
    while (step := struct.unpack("<q", zygote.stdout.read(8))[0]) != -1:
        acknowledged = step
    return int(acknowledged)


def assert_whole(run: Path, acknowledged: int) -> int:
    """Everything up to the acknowledged step is there, right, once, in order; returns the number of steps."""
    trace = open_trace(run)
    steps, values = trace.series("loss")
    assert steps == list(range(len(steps)))
    assert len(steps) > acknowledged
    assert values == [loss(step) for step in steps]
    assert [event.text for event in trace.events(0)][: acknowledged // 5 + 1] == [
        str(step) for step in range(4, acknowledged + 1, 5)
    ]  # type: ignore[union-attr]
    assert trace.problems == []
    return len(steps)


@pytest.mark.parametrize("seed", range(KILLS // AT_ONCE))
def test_fifty_kills_at_random_moments_lose_nothing_acknowledged(
    seed: int, zygote: subprocess.Popen[bytes], memory_path: Path
) -> None:
    chance = random.Random(seed)
    sealing_on = 0
    for kill in range(AT_ONCE):
        run = memory_path / f"run-{kill}"
        acknowledged = killed_after(zygote, run, chance.uniform(0, 0.12))
        names = os.listdir(run / "rank=0")
        sealing_on += any(name.endswith(".tmp") for name in names) or sum(name.startswith("live") for name in names) > 1
        count = assert_whole(run, acknowledged)
        if kill % 5 == 0:
            write_on(run, count)
        assert seal_run(run) == []
        assert not [name for name in os.listdir(run / "rank=0") if name.startswith(("live", "."))]
        assert_whole(run, acknowledged)
    assert sealing_on > AT_ONCE / 4, (
        "many kills should find a seal under way or due; the exact moments of one are tested below"
    )


def write_on(run: Path, count: int) -> None:
    """A new writer goes on where a killed one stopped, in a new segment."""
    before = {path.name: path.read_bytes() for path in (run / "rank=0").glob("live-*")}
    writer = TraceWriter(run, 0)
    for step in range(count, count + 10):
        writer.point(step, {"loss": loss(step)})
    writer.flush()
    assert {name: (run / "rank=0" / name).read_bytes() for name in before} == before
    assert open_trace(run).series("loss")[0] == list(range(count + 10))
    writer.close()


@pytest.mark.parametrize("moment", ["fsync", "replace", "replaced"])
def test_a_kill_at_each_moment_of_a_seal_loses_nothing(moment: str, tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        die_at(moment)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        write(tmp_path, steps=40, flush_s=60.0)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    names = sorted(os.listdir(tmp_path / "rank=0"))
    assert "live-000001.arrows" in names
    assert ("series-000001.parquet" in names) == (moment == "replaced")
    assert assert_whole(tmp_path, 39) == 40
    assert seal_run(tmp_path) == []
    assert sorted(os.listdir(tmp_path / "rank=0")) == ["events.jsonl", "series-000001.parquet"]
    assert assert_whole(tmp_path, 39) == 40


def die_at(moment: str) -> None:
    """In the forked child: kill itself by the real signal at a moment of the seal."""
    true: dict[str, Callable[..., None]] = {"fsync": os.fsync, "replace": os.replace, "replaced": os.replace}

    def die(*args: object) -> None:
        if moment == "replaced":
            true[moment](*args)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(sealing.os, "replace" if moment == "replaced" else moment, die)
