"""What goes in comes out; what the disk or a fork does never reaches the caller."""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from debugtracer import errors
from debugtracer.trace.events import Noted, RankStarted
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.writer import TraceWriter

HERE = Path(__file__).parent


def a_note(text: str, rank: int = 0) -> Noted:
    return Noted(at=1.0, rank=rank, what="test", text=text)


def run_writing(run: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """A real process that writes a trace to its end."""
    words = [f"{key}={value}" for key, value in options.items()]
    source = Path(errors.__file__).parents[1]
    return subprocess.run(
        [sys.executable, HERE / "writing.py", run, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, timeout=300, env={**os.environ, "PYTHONPATH": str(source), "DEBUG_TRACER_STRICT": "1"}, check=False,
    )  # fmt: skip


def test_every_point_and_event_is_read_back(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 2)
    writer.event(RankStarted(at=0.5, rank=2, pid=7))
    for step in range(2500):
        writer.point(step, {"loss": step / 4, "bad": math.nan if step == 1700 else math.inf if step == 2000 else -1.0})
    writer.event(a_note("end", 2))
    writer.close()
    trace = open_trace(tmp_path)
    assert trace.ranks == [2]
    assert trace.names(2) == ["bad", "loss"]
    assert trace.series("loss", 2) == (list(range(2500)), [step / 4 for step in range(2500)])
    steps, values = trace.series("bad", 2, start=1699, stop=2001)
    assert (steps[0], steps[-1], values[0], values[-1]) == (1699, 2000, -1.0, math.inf)
    assert math.isnan(values[1])
    assert trace.events() == [RankStarted(at=0.5, rank=2, pid=7), a_note("end", 2)]
    assert sorted(os.listdir(tmp_path / "rank=2")) == ["events.jsonl", "series-000001.parquet"]
    assert writer.off is None


def test_a_point_costs_microseconds(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    values = {f"series-{i}": float(i) for i in range(8)}
    writer.point(0, values)
    costs = []
    for step in range(1, 5000):
        start = time.perf_counter()
        writer.point(step, values)
        costs.append(time.perf_counter() - start)
    writer.close()
    assert statistics.median(costs) < 10e-6


def test_the_background_thread_flushes_without_being_asked(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_steps=10_000, flush_s=0.05)
    writer.point(0, {"loss": 1.0})
    writer.event(a_note("soon"))
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (
        open_trace(tmp_path.parent / tmp_path.name).ranks and open_trace(tmp_path).names()
    ):
        time.sleep(0.02)
    assert open_trace(tmp_path).series("loss") == ([0], [1.0])
    assert open_trace(tmp_path).events() == [a_note("soon")]
    writer.close()


@pytest.fixture(autouse=True)
def _a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")


def test_an_event_now_is_on_disk_before_the_call_returns_with_all_before_it(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_s=600)
    writer.event(a_note("first"))
    writer.event(a_note("second"), now=True)
    assert [event.text for event in open_trace(tmp_path).events()] == ["first", "second"]  # type: ignore[union-attr]
    writer.close()


def test_points_from_many_threads_are_all_kept(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_steps=7, flush_s=0.001, segment_flushes=20)
    threads = [
        threading.Thread(
            target=lambda first=first: [writer.point(step, {"loss": step}) for step in range(first, 4000, 4)]
        )
        for first in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    assert open_trace(tmp_path).series("loss") == (list(range(4000)), [float(step) for step in range(4000)])


def test_a_changed_mapping_does_not_change_a_point(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    values = {"loss": 1.0}
    writer.point(0, values)
    values["loss"] = 2.0
    writer.close()
    assert open_trace(tmp_path).series("loss") == ([0], [1.0])


def test_a_value_that_is_no_number_is_counted_and_tracing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    monkeypatch.setattr(errors, "failures", {})
    writer = TraceWriter(tmp_path, 0, flush_s=600)
    writer.point(0, {"loss": object()})  # type: ignore[dict-item]
    writer.flush()
    writer.point(1, {"loss": 1.0})
    writer.close()
    assert writer.off is None
    assert errors.failures["trace.store.writer.point"].count == 1
    assert open_trace(tmp_path).series("loss") == ([1], [1.0])


def test_an_unwritable_folder_turns_tracing_off_with_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    writer = TraceWriter(tmp_path / "file" / "run", 0)
    for step in range(1000):
        writer.point(step, {"loss": 1.0})
    for _ in range(3):
        writer.event(a_note("x"), now=True)
        writer.flush()
    writer.close()
    assert writer.off == "Not a directory"
    said = capfd.readouterr().err
    assert said == (
        f"debug-tracer: {tmp_path}/file/run/rank=0 cannot be written (Not a directory); the trace ends here, training "
        "goes on. "
        "Free space there or choose another folder with --out for the next run.\n"
    )


def test_a_full_quota_ends_the_trace_with_one_line_and_the_program_goes_on(tmp_path: Path) -> None:
    done = run_writing(tmp_path, limit=60_000, steps=4000)
    assert done.returncode == 0
    line, end = done.stderr.splitlines()
    assert line.startswith(
        f"debug-tracer: {tmp_path}/rank=0 cannot be written (File too large); the trace ends here, training goes on."
    )
    assert end == "trained to the end, off: File too large"
    steps, _ = open_trace(tmp_path).series("loss")
    assert steps == list(range(len(steps)))
    assert 100 < len(steps) < 4000


def test_a_full_disk_ends_the_trace_with_one_line_and_the_program_goes_on(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("a small file system cannot be mounted here; the quota test covers the same path")
    try:
        done = run_writing(disk / "run", steps=4000)
        assert done.returncode == 0
        line, end = done.stderr.splitlines()
        assert "cannot be written (No space left on device); the trace ends here" in line
        assert end == "trained to the end, off: No space left on device"
        trace = open_trace(disk / "run")
        steps, _ = trace.series("loss")
        assert steps == list(range(len(steps)))
        assert len(steps) > 100
        assert trace.problems == []
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("told", [True, False])
def test_a_forked_child_stays_silent(told: bool, tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_s=600)
    writer.point(0, {"loss": 0.0})
    writer.flush()
    writer.point(1, {"loss": 1.0})
    writer.event(a_note("parent"))
    with writer.lock:  # as if a flush were under way while the process forks
        pid = os.fork()
        if pid == 0:
            if told:
                writer.drop()
            writer.point(2, {"loss": 2.0})
            writer.event(a_note("child"), now=True)
            writer.flush()
            writer.close()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    writer.close()
    assert open_trace(tmp_path).series("loss") == ([0, 1], [0.0, 1.0])
    assert open_trace(tmp_path).events() == [a_note("parent")]


def test_where_no_thread_can_be_started_the_caller_flushes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    writer = TraceWriter(tmp_path, 0, flush_steps=10)
    for step in range(25):
        writer.point(step, {"loss": float(step)})
    assert open_trace(tmp_path).series("loss")[0] == list(range(20))
    writer.close()
    assert open_trace(tmp_path).series("loss")[0] == list(range(25))
    assert writer.off is None


def test_neither_torch_nor_pyarrow_is_imported_before_the_first_flush(tmp_path: Path) -> None:
    code = (
        "import sys; from debugtracer.trace.store.writer import TraceWriter; from debugtracer.trace.store.reader "
        "import open_trace\nwriter = TraceWriter(sys.argv[1], 0, flush_s=600); writer.point(0, {'loss': 1.0}); before "
        "= {'torch', 'pyarrow'} & set(sys.modules)\n"
        "writer.close(); print(before, 'torch' in sys.modules, open_trace(sys.argv[1]).series('loss'))"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(errors.__file__).parents[1])}
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "run"], capture_output=True, text=True, env=environ, check=True
    ).stdout
    assert said == "set() False ([0], [1.0])\n"


def test_a_dropped_writer_writes_nothing_and_says_why(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_s=600)
    writer.point(0, {"loss": 0.0})
    writer.drop()
    writer.close()
    assert writer.off == "dropped in a forked process"
    assert not (tmp_path / "rank=0").exists()


def test_after_close_nothing_is_written(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    writer.point(0, {"loss": 0.0})
    writer.close()
    writer.close()
    writer.point(1, {"loss": 1.0})
    writer.event(a_note("late"), now=True)
    writer.flush()
    assert open_trace(tmp_path).series("loss") == ([0], [0.0])
    assert open_trace(tmp_path).events() == []


def test_two_processes_of_one_rank_do_not_disturb_each_other(tmp_path: Path) -> None:
    first, second = TraceWriter(tmp_path, 0, flush_s=600), TraceWriter(tmp_path, 0, flush_s=600)
    for writer, step in ((first, 0), (second, 10), (first, 1), (second, 11)):
        writer.point(step, {"loss": float(step)})
        writer.event(a_note(str(step)))
        writer.flush()
    assert open_trace(tmp_path).series("loss")[0] == [0, 1, 10, 11]
    first.close()
    second.close()
    assert open_trace(tmp_path).series("loss")[0] == [0, 1, 10, 11]
    assert [event.text for event in open_trace(tmp_path).events(0)] == ["0", "10", "1", "11"]  # type: ignore[union-attr]


def test_above_the_byte_budget_the_oldest_raw_rows_are_thinned(tmp_path: Path) -> None:
    import random

    chance = random.Random(0)
    budget = 160_000
    writer = TraceWriter(tmp_path, 0, flush_steps=10_000, flush_s=600, run_bytes=budget, segment_flushes=10)
    values = [chance.random() for _ in range(60_000)]
    values[1500] = math.nan
    for step, value in enumerate(values):
        writer.point(step, {"loss": value})
        if step % 400 == 399:
            writer.flush()
            writer.wake.set()
    writer.close()
    size = sum(path.stat().st_size for path in (tmp_path / "rank=0").iterdir())
    assert size < budget * 1.1
    trace = open_trace(tmp_path)
    steps, _ = trace.series("loss")
    assert steps[:1024] == list(range(1024, 2048)), "the block with the NaN stays raw"
    assert steps[1024] > 10_000, "what follows it is thinned"
    assert steps[-12_000:] == list(range(48_000, 60_000)), "the newest stays raw"
    bins = trace.overview("loss", bins=100)
    assert sum(one.n for one in bins) == 60_000
    assert sum(one.bad for one in bins) == 1
    assert trace.first_bad() == msgspec.structs.replace(trace.first_bad(["loss"]), step=1500)  # type: ignore[type-var]
    assert bins[-1].step1 == 59_999


def test_events_may_follow_when_the_series_are_sealed_and_the_thread_says_what_it_used(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_steps=1)
    for step in range(200):
        writer.point(step, {"loss": float(step)})
    writer.seal()
    assert writer.used_s > 0
    sealed = sorted(path.name for path in tmp_path.rglob("*.parquet"))
    assert sealed
    writer.event(Noted(at=1.0, rank=0, what="late", text="after the series"), now=True)
    assert b"after the series" in (writer.folder / "events.jsonl").read_bytes()
    writer.close()
    assert sorted(path.name for path in tmp_path.rglob("*.parquet")) == sealed
