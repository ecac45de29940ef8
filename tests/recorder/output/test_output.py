"""Facts about what leaves the process: nothing before it is needed, one line when it cannot, and a forked child touches
nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import torch

from debugtracer import errors
from debugtracer.errors import Failure
from debugtracer.recorder.output import output as output_module
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.events import Crashed, Failed, Noted, RankEnded, RankStarted
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.reader import Trace, open_trace


def an_output(run: Path) -> Output:
    return Output(lambda: run, RunState(), "dev", flush_steps=1, flush_s=1.0, run_bytes=2**20)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return create_run(tmp_path, "run", ["python", "train.py"], "dev")


def read(run: Path) -> Trace:
    return open_trace(run)


def of(run: Path, kind: type) -> list:
    return [e for e in read(run).events() if isinstance(e, kind)]


def test_nothing_is_written_before_the_files_are_opened(run: Path) -> None:
    output = an_output(run)
    before = sorted(run.rglob("*"))
    output.note("a", "b")
    output.point(0, {"loss": 1.0})
    output.flush()
    output.close()
    output.drop()
    assert sorted(run.rglob("*")) == before


def test_a_rank_of_several_opens_its_files_for_an_exchange_and_a_program_alone_does_not(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = an_output(run)
    assert output.opened_folder_of_rank() is None
    assert of(run, RankStarted) == []
    monkeypatch.setattr(output_module, "current_rank", lambda: (1, 2))
    assert output.opened_folder_of_rank() == run / "rank=1"
    assert [(event.rank, event.world_size) for event in of(run, RankStarted)] == [(1, 2)]
    output.close()


def test_opening_tells_who_the_rank_is_and_what_was_noted_before(run: Path) -> None:
    output = an_output(run)
    output.note("late", "attached after two optimizers were built")
    output.open()
    output.open()
    (started,) = of(run, RankStarted)
    assert (started.pid, started.rank, started.world_size, started.torch, started.device) == (
        os.getpid(),
        0,
        1,
        str(torch.__version__),
        "cpu",
    )
    output.flush()
    assert [n.text for n in of(run, Noted)] == ["attached after two optimizers were built"]


def test_only_the_last_notes_wait(run: Path) -> None:
    output = an_output(run)
    for number in range(200):
        output.note("n", str(number))
    output.open()
    output.flush()
    assert [n.text for n in of(run, Noted)] == [str(n) for n in range(136, 200)]


def test_numbers_and_counters_are_read_back(run: Path) -> None:
    output = an_output(run)
    output.open()
    for step in range(3):
        output.state.step = step + 1
        output.point(step, {"loss": 1.0 / (step + 1)})
    output.state.skipped = 2
    output.close()
    output.close()
    steps, values = read(run).series("loss")
    assert (list(steps), list(values)) == ([0, 1, 2], [1.0, pytest.approx(0.5), pytest.approx(1 / 3)])
    last = [e for e in of(run, RankEnded) if e.final]
    assert [(e.steps, e.skipped) for e in last] == [(3, 2)]


def test_a_heartbeat_comes_now_and_then(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_module, "HEARTBEAT_S", 0.05)
    output = an_output(run)
    output.open()
    begin = time.monotonic()
    while time.monotonic() - begin < 0.2:
        output.point(0, {"loss": 1.0})
    output.flush()
    assert 2 <= len([e for e in of(run, RankEnded) if not e.final]) <= 5


def test_a_folder_that_cannot_be_written_is_one_line_and_training_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run").write_text("a file")
    output = an_output(tmp_path / "run")
    for _ in range(3):
        output.open()
        output.point(0, {"loss": 1.0})
    output.crash(ValueError("mine"))
    output.close()
    said = capsys.readouterr().err
    assert said == (
        "debug-tracer: run folder - cannot be written (Not a directory) - tracing is off, training goes on - give "
        "another folder with --out.\n"
    )
    assert output.off == "Not a directory"


def broken() -> None:
    raise ValueError("mine")


def test_a_crash_holds_the_error_and_the_user_s_line_and_is_with_the_os_at_once(run: Path) -> None:
    output = an_output(run)
    output.state.step = 4
    try:
        broken()
    except ValueError as error:
        output.crash(error)
    (crashed,) = of(run, Crashed)
    assert (crashed.error, crashed.message, crashed.step) == ("ValueError", "mine", 4)
    assert crashed.frames[0].code == 'raise ValueError("mine")'
    assert crashed.frames[0].file == __file__


def test_failures_of_ours_are_told_at_the_end(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "failures", {"hooks.backward": Failure("hooks.backward", 3, "Traceback ...")})
    output = an_output(run)
    output.open()
    output.close()
    assert [(f.where, f.count, f.first) for f in of(run, Failed)] == [("hooks.backward", 3, "Traceback ...")]


def test_a_forked_child_leaves_the_parent_s_files_alone_and_may_open_its_own(run: Path) -> None:
    output = an_output(run)
    output.open()
    output.point(0, {"loss": 1.0})
    output.flush()
    before = {p: p.read_bytes() for p in sorted(run.rglob("*")) if p.is_file()}
    child = os.fork()
    if child == 0:
        status = 1
        try:
            output.drop()
            same = {p: p.read_bytes() for p in sorted(run.rglob("*")) if p.is_file()} == before
            output.open()
            output.close()
            status = 0 if same and output.rank == 1 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    output.point(1, {"loss": 0.5})
    output.close()
    trace = read(run)
    assert list(trace.ranks) == [0, 1]
    assert list(trace.series("loss")[0]) == [0, 1]


def test_what_sealing_the_series_takes_is_counted_in_the_last_counters(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = an_output(run)
    output.open()
    assert output.writer is not None
    seal = output.writer.seal
    monkeypatch.setattr(output.writer, "seal", lambda: (time.sleep(0.2), seal()))
    output.close()
    assert 0.2 <= of(run, RankEnded)[-1].own_s < 2.0
