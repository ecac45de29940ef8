"""Ranks answer a bad step alike: what one leaves out, all leave out, and all stop together; two ranks and four."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, perf_counter, sleep

import pytest

from debugtracer.recorder.gate.rank_vote import PATIENCE_S
from debugtracer.trace.events import Acted
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.schema import CONTROL
from tests.conftest import ROOT, RunWatched
from tests.faults.every import SWEEP
from tests.forked import Programs

PROGRAM = Path(__file__).parent / "programs" / "two_ranks.py"


@pytest.fixture(autouse=True)
def reached_by_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranks are started from nothing, by a program that is forked."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))


def sums(stdout: str) -> list[str]:
    return sorted(line for line in stdout.splitlines() if line.startswith("rank "))


def test_a_bad_batch_of_one_rank_is_left_out_on_both(
    run_watched: RunWatched, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not SWEEP:  # ranks that are spawned import torch again
        monkeypatch.setenv("START_METHOD", "fork")
    watched = run_watched(PROGRAM, mode="prod")
    twin = subprocess.run([*programs.python, str(PROGRAM), "passes"], capture_output=True, text=True, check=True)
    assert watched.status == 0, watched.stderr
    assert sorted((a["rank"], a["step"], a["action"]) for a in watched.report["actions"]) == [
        (0, 5, "skip-update"),
        (1, 5, "skip-update"),
    ]
    assert len(sums(watched.stdout)) == 2
    assert sums(watched.stdout) == sums(twin.stdout)
    assert watched.report["verdict"]["rank"] == 1  # the rank whose batch it was, and no other, has looked into it


@pytest.mark.sweep
def test_mode_observe_takes_part_in_no_reduction(run_watched: RunWatched) -> None:
    """A replay in front of the bad backward would reduce gradients of its own with those of the other rank."""
    watched = run_watched(PROGRAM, mode="observe")
    bare = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=True)
    assert sorted(watched.stdout.splitlines()) == sorted(bare.stdout.splitlines())
    assert watched.report["verdict"] is not None


@pytest.mark.sweep
def test_a_fault_that_stays_stops_both(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, "lasting", mode="prod")
    assert watched.status == 3, watched.stderr
    stops = [(a["rank"], a["step"]) for a in watched.report["actions"] if a["action"] == "stop"]
    assert sorted(stops) == [(0, 7), (1, 7)]
    assert sorted(p.name for p in watched.run.glob("last-good/*.pt")) == ["rank-0.pt", "rank-1.pt"]


BACK = PROGRAM.with_name("two_ranks_back.py")
LIMIT = 0.02  # of the final loss of the healthy run


def finals(stdout: str) -> list[float]:
    """The final loss of each rank, which end with the same weights."""
    ends = sorted(re.findall(r"rank (\d) final (\S+) of \d+ weights (nan|-?[\d.]+)", stdout))  # lines may run together
    assert len(ends) == int(os.environ.get("RANKS", "2")) and len({weights for *_, weights in ends}) == 1
    return [float(loss) for _, loss, _ in ends]


@pytest.mark.sweep
@pytest.mark.parametrize("loop", ["ddp", "accelerate"])
@pytest.mark.parametrize(("fault", "answer"), [("sample", "skip-update"), ("moments", "roll-back")])
def test_a_fault_of_one_rank_is_answered_by_both(run_watched: RunWatched, fault: str, answer: str, loop: str) -> None:
    twin = subprocess.run([sys.executable, str(BACK), "passes", loop], capture_output=True, text=True, check=True)
    bare = subprocess.run([sys.executable, str(BACK), fault, loop], capture_output=True, text=True, check=True)
    watched = run_watched(BACK, fault, loop, mode="prod")
    assert watched.status == 0, watched.stderr
    answers = [(a["rank"], a["step"]) for a in watched.report["actions"] if a["action"] == answer]
    steps = {step for _, step in answers}
    assert steps and sorted(answers) == [(rank, step) for rank in (0, 1) for step in sorted(steps)]
    assert len(steps) == 1 or ((fault, loop) == ("sample", "accelerate") and len(steps) == 2)  # shards are dealt anew
    assert "weights nan" in bare.stdout
    assert finals(watched.stdout) == pytest.approx(finals(twin.stdout), rel=LIMIT)
    assert watched.report["verdict"]["rank"] == 1 or fault == "sample"
    if fault == "sample":
        assert watched.report["verdict"]["sample_index"] == [333]
    seen = sorted(a["reason"].split(";")[0] for a in watched.report["actions"] if a["action"] == "roll-back")
    whose = ["the weights are not finite", "the weights of another rank are not finite"]
    assert seen == (whose if fault == "moments" else [])


@pytest.mark.sweep
def test_a_rank_that_dies_before_it_answers_holds_the_other_for_twenty_seconds(run_watched: RunWatched) -> None:
    watched = run_watched(BACK, "dies", mode="prod", timeout_s=120)
    assert watched.status not in (0, 3)  # the launcher of the program ends it
    assert "process 1 terminated with exit code 9" in watched.stderr


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of this test have four ranks."""
    monkeypatch.setenv("RANKS", "4")


@pytest.mark.sweep
@pytest.mark.usefixtures("four")
def test_four_ranks_leave_a_bad_batch_of_one_out(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, mode="prod")
    twin = subprocess.run([sys.executable, str(PROGRAM), "passes"], capture_output=True, text=True, check=True)
    assert watched.status == 0, watched.stderr
    assert sorted((a["rank"], a["step"], a["action"]) for a in watched.report["actions"]) == [
        (rank, 5, "skip-update") for rank in range(4)
    ]
    assert len(sums(watched.stdout)) == 4 and sums(watched.stdout) == sums(twin.stdout)


@pytest.mark.sweep
@pytest.mark.usefixtures("four")
def test_four_ranks_stop_together(run_watched: RunWatched) -> None:
    watched = run_watched(PROGRAM, "lasting", mode="prod")
    assert watched.status == 3, watched.stderr
    stops = [(a["rank"], a["step"]) for a in watched.report["actions"] if a["action"] == "stop"]
    assert sorted(stops) == [(rank, 7) for rank in range(4)]
    assert len(list(watched.run.glob("last-good/*.pt"))) == 4


@pytest.mark.sweep
@pytest.mark.usefixtures("four")
def test_four_ranks_go_back_to_a_step_that_all_of_them_hold(run_watched: RunWatched) -> None:
    twin = subprocess.run([sys.executable, str(BACK), "passes"], capture_output=True, text=True, check=True)
    watched = run_watched(BACK, "moments", mode="prod")
    assert watched.status == 0, watched.stderr
    back = [(a["rank"], a["step"]) for a in watched.report["actions"] if a["action"] == "roll-back"]
    steps = {step for _, step in back}
    assert steps and sorted(back) == [(rank, step) for rank in range(4) for step in sorted(steps)]
    assert finals(watched.stdout) == pytest.approx(finals(twin.stdout), rel=LIMIT)


@pytest.mark.sweep
@pytest.mark.usefixtures("four")
def test_a_rank_that_dies_in_a_vote_leaves_the_others_with_their_record(run_watched: RunWatched) -> None:
    """They wait for it once, say that nothing was agreed on, and write this step as the program has it."""
    watched = run_watched(BACK, "survives", mode="prod", timeout_s=200)
    held = {int(rank): float(s) for rank, s in re.findall(r"rank (\d) was held for (\S+) s", watched.stdout)}
    assert sorted(held) == [0, 2, 3], watched.stderr
    assert all(PATIENCE_S - 1 < seconds < 3 * PATIENCE_S for seconds in held.values()), held
    assert watched.report["actions"] == []
    assert watched.stderr.count("nothing was done about it") == 3


@pytest.mark.parametrize("dead", [0, 1])
def test_a_rank_that_is_killed_while_it_looks_into_a_fault_holds_nobody_up(
    run_watched: RunWatched, monkeypatch: pytest.MonkeyPatch, dead: int
) -> None:
    """Rank 0 holds the store that they vote in."""
    monkeypatch.setenv("START_METHOD", "fork")
    monkeypatch.setenv("BAD_RANK", str(dead))
    monkeypatch.setenv("DEBUG_TRACER_RANKS_S", "2")
    begin = perf_counter()
    watched = run_watched(PROGRAM, "dies", mode="prod")
    assert perf_counter() - begin < 60  # it was 600 s
    other = 1 - dead
    losses = re.findall(rf"loss of rank {other} at step (\d+)", watched.stdout)
    assert losses[-1] == "5", watched.stderr  # it went on, into a reduction without its sibling
    assert (
        f"rank {other} - a gradient is not finite - nothing was done about it: the other ranks did not"
        in watched.stderr
    )


def test_ranks_wait_for_one_word_and_go_on_or_stop_together(
    tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("START_METHOD", "fork")
    environ = os.environ | {"DEBUG_TRACER_PAUSE_S": "90"}
    words = [*programs.tool, "run", "--mode", "prod", "--out", "runs", str(PROGRAM), "lasting"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.extend(running.stderr or ()))
        reader.start()
        for number, word in enumerate(("resume", "stop"), 1):
            end = monotonic() + 120
            while sum("the run waits - expected" in line for line in said) < number and monotonic() < end:
                sleep(0.01)
            (tmp_path / "runs" / "latest" / CONTROL).write_text(word)
        stdout = running.communicate(timeout=120)[0]
        reader.join()
    assert running.returncode == 3, "".join(said)
    trace = open_trace((tmp_path / "runs" / "latest").resolve())
    for rank in range(2):
        done = [(a.step, a.action) for a in trace.events(rank) if isinstance(a, Acted)]
        waits = [one for one in done if one[1] in ("pause", "stop")]
        both = [(7, "pause"), (10, "pause"), (10, "stop")]
        assert waits == (both if rank == 0 else both[: max(1, len(waits))])  # torch ends rank 1 when rank 0 has stopped
    assert sum("the run waits - expected" in line for line in said) == 2  # rank 0 alone asks
    for rank in range(2):
        assert f"loss of rank {rank} at step 9" in stdout and f"loss of rank {rank} at step 10" not in stdout
