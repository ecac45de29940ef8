"""Reading a run: live, sealed, damaged, or no run at all."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from debugtracer.errors import TraceError
from debugtracer.trace.events import Noted
from debugtracer.trace.store.reader import BadStep, open_trace
from debugtracer.trace.store.writer import TraceWriter

HERE = Path(__file__).parent


def a_run(
    folder: Path, steps: int = 3000, name: str = "run-1", rank: int = 0, segment_flushes: int = 10, bad_at: int = -1
) -> Path:
    """A run of several sealed segments and one event."""
    run = folder / name
    writer = TraceWriter(run, rank, flush_steps=10**6, flush_s=600, segment_flushes=segment_flushes)
    (run / f"rank={rank}").mkdir(parents=True)
    for step in range(steps):
        writer.point(step, {"loss": math.nan if step == bad_at else step / 2, "lr": 0.125})
        if step % 100 == 99:
            writer.flush()
    writer.event(Noted(at=1.0, rank=rank, what="test", text="end"))
    writer.close()
    return run


def test_a_live_run_is_followed(tmp_path: Path) -> None:
    import debugtracer

    environ = {**os.environ, "PYTHONPATH": str(Path(debugtracer.__file__).parents[1])}
    words = ["steps=1500", "pause_s=0.003", "flush_s=0.01", "segment_flushes=40"]
    process = subprocess.Popen(
        [sys.executable, HERE / "writing.py", tmp_path / "run", *words], stdout=subprocess.DEVNULL, env=environ
    )
    try:
        lengths, forms = [0], set()
        deadline = time.monotonic() + 60
        while lengths[-1] < 1500 and time.monotonic() < deadline:
            if not (tmp_path / "run" / "rank=0").exists():
                time.sleep(0.01)
                continue
            trace = open_trace(tmp_path / "run")
            steps, values = trace.series("loss")
            assert steps == list(range(len(steps)))
            assert values == [1.0 + (step % 97) / 128 for step in steps]
            assert len(trace.events()) * 5 >= len(steps)
            assert trace.problems == []
            lengths.append(len(steps))
            forms |= {path.suffix for path in (tmp_path / "run" / "rank=0").iterdir()}
        assert lengths == sorted(lengths)
        assert lengths[-1] == 1500
        assert len(set(lengths)) > 10
        assert {".arrows", ".parquet"} <= forms
    finally:
        process.kill()
        process.wait()


def test_a_segment_that_is_there_sealed_and_live_counts_once(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0, flush_s=600)
    for step in range(50):
        writer.point(step, {"loss": float(step)})
    writer.flush()
    live = (tmp_path / "rank=0" / "live-000001.arrows").read_bytes()
    writer.close()
    (tmp_path / "rank=0" / "live-000001.arrows").write_bytes(live)
    assert open_trace(tmp_path).series("loss")[0] == list(range(50))


def test_of_a_step_written_twice_the_last_value_counts(tmp_path: Path) -> None:
    for first, value in ((0, 1.0), (50, 2.0)):
        writer = TraceWriter(tmp_path, 0)
        for step in range(first, first + 100):
            writer.point(step, {"loss": value})
        writer.close()
    assert open_trace(tmp_path).series("loss") == (list(range(150)), [1.0] * 50 + [2.0] * 100)


def test_steps_with_gaps_come_back_as_written(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    steps = [step for step in range(5000) if step % 10 in (0, 3)]
    for step in range(5000):
        writer.point(step, {"even": step} if step % 10 == 0 else {"odd": step} if step % 10 == 3 else {})
        if step % 10 in (0, 3):
            writer.point(step, {"both": step})
    writer.close()
    trace = open_trace(tmp_path)
    assert trace.series("even")[0] == list(range(0, 5000, 10))
    assert trace.series("both") == (steps, [float(step) for step in steps])
    assert trace.series("both", start=3, stop=13)[0] == [3, 10]
    assert trace.series("both", start=4, stop=5) == ([], [])


def test_start_and_stop_cut_at_the_step(tmp_path: Path) -> None:
    trace = open_trace(a_run(tmp_path))
    for start, stop in ((None, 10), (2990, None), (1023, 1025), (995, 1005), (0, 3000), (5000, None), (-5, 1)):
        expected = [step for step in range(3000) if (start is None or step >= start) and (stop is None or step < stop)]
        assert trace.series("loss", start=start, stop=stop) == (expected, [step / 2 for step in expected])


def test_an_unknown_series_or_rank_is_empty(tmp_path: Path) -> None:
    trace = open_trace(a_run(tmp_path))
    assert trace.series("accuracy") == ([], [])
    assert trace.series("loss", rank=7) == ([], [])
    assert trace.events(7) == []
    assert trace.overview("accuracy") == []


def test_the_first_bad_step_is_named_over_series_and_ranks(tmp_path: Path) -> None:
    run = a_run(tmp_path, bad_at=1234)
    writer = TraceWriter(run, 1, flush_s=600)
    for step in range(1000, 1300):
        writer.point(step, {"grad_l2": math.inf if step == 1233 else 1.0})
    writer.flush()
    trace = open_trace(run)
    assert trace.first_bad() == BadStep(step=1233, series="grad_l2", rank=1)
    assert trace.first_bad(["loss"]) == BadStep(step=1234, series="loss", rank=0)
    assert trace.first_bad(rank=0) == BadStep(step=1234, series="loss", rank=0)
    assert trace.first_bad(["lr"]) is None
    writer.close()
    assert open_trace(run).first_bad() == BadStep(step=1233, series="grad_l2", rank=1)


def test_a_value_beyond_float32_is_large_not_bad(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    writer.point(0, {"grad_l2": 1e300})
    writer.point(1, {"grad_l2": -1e300})
    writer.close()
    trace = open_trace(tmp_path)
    assert trace.series("grad_l2")[1] == pytest.approx([3.4028e38, -3.4028e38], rel=1e-4)
    assert trace.first_bad() is None


def test_a_step_number_beyond_float32_stays_exact(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, 0)
    steps = [2**24 + 1, 2**24 + 2, 2**40 + 3]
    for step in steps:
        writer.point(step, {"loss": 1.0})
    writer.close()
    assert open_trace(tmp_path).series("loss")[0] == steps


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "flipped"])
def test_a_damaged_sealed_file_is_named_and_the_rest_is_read(damage: str, tmp_path: Path) -> None:
    run = a_run(tmp_path)
    path = run / "rank=0" / "series-000002.parquet"
    data = path.read_bytes()
    at = pq.ParquetFile(path).metadata.row_group(0).column(15).data_page_offset + 80
    flipped = data[:at] + bytes(byte ^ 255 for byte in data[at : at + 50]) + data[at + 50 :]
    path.write_bytes(
        {"cut": data[: len(data) // 2], "garbage": b"not parquet" * 99, "empty": b"", "flipped": flipped}[damage]
    )
    trace = open_trace(run)
    assert trace.series("loss")[0] == [*range(1000), *range(2000, 3000)]
    assert len(trace.problems) == 1
    assert trace.problems[0].startswith(f"{path} is ")
    assert "\n" not in trace.problems[0]


def test_when_no_segment_can_be_read_it_is_an_error_naming_one(tmp_path: Path) -> None:
    run = a_run(tmp_path, steps=100)
    (run / "rank=0" / "series-000001.parquet").write_bytes(b"PAR1 and nothing")
    with pytest.raises(
        TraceError,
        match=(
            r"series-000001\.parquet is no whole Parquet file \(.+\); it was cut short, the other files are not "
            r"affected\."
        ),
    ):
        open_trace(run).series("loss")


def test_a_file_of_another_format_is_refused_by_its_version(tmp_path: Path) -> None:
    run = a_run(tmp_path, steps=100)
    path = run / "rank=0" / "series-000001.parquet"
    table = pq.read_table(path, partitioning=None)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"debugtracer.version": b"9"}), path)
    with pytest.raises(
        TraceError,
        match=r"has trace format 9; this debug-tracer reads format 1: read it with the version that wrote it\.",
    ):
        open_trace(run).series("loss")


def test_a_folder_of_runs_opens_its_latest(tmp_path: Path) -> None:
    a_run(tmp_path, steps=10)
    second = a_run(tmp_path, steps=20, name="run-2")
    latest = tmp_path / "latest"
    latest.symlink_to("run-2")
    assert open_trace(tmp_path).path == second
    assert len(open_trace(latest).series("loss")[0]) == 20
    latest.unlink()
    latest.write_text("run-2\n")  # where links are impossible
    assert open_trace(str(tmp_path)).path == second


def test_what_is_no_run_is_refused_in_one_sentence(tmp_path: Path) -> None:
    def said(path: Path) -> str:
        with pytest.raises(TraceError) as caught:
            open_trace(path)
        return str(caught.value).replace(str(tmp_path), "T")

    assert said(tmp_path / "no") == (
        "T/no does not exist; expected a run folder (it holds run.json) or a folder of runs such as debug-tracer-runs."
    )
    assert said(tmp_path) == "T is no run folder (no run.json, no rank=0): it holds no run."
    run = a_run(tmp_path, steps=10)
    assert said(tmp_path) == (
        "T is no run folder (no run.json, no rank=0): it holds 1 run but no `latest`; give one of them, e.g. T/run-1."
    )
    assert (
        said(run / "rank=0" / "events.jsonl")
        == "T/run-1/rank=0/events.jsonl is a file; expected the run folder that holds it (with run.json and rank=0)."
    )
    (tmp_path / "latest").symlink_to("run-1")
    shutil.rmtree(run)
    assert said(tmp_path) == "T/latest points to T/run-1, which is no run folder; give a run folder itself."
