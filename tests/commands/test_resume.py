"""`debug-tracer resume`: a killed run goes on from its last good state as if nothing had happened, or says why not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from debugtracer.commands.resume import known_command, resume
from debugtracer.errors import UsageError
from debugtracer.trace.store.manifest import create_run
from debugtracer.trace.store.saved_state import newest
from tests.forked import Programs

PROGRAM = Path(__file__).parents[1] / "responses" / "programs" / "resumable.py"
OFTEN = {"DEBUG_TRACER_LAST_GOOD_S": "0.000001", "DEBUG_TRACER_COST": "1"}


class Killed:
    """A run that was killed, and the words that go on from it."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.programs, self.folder = programs, folder
        done = self.tool(["run", "--mode", "prod", "--out", "runs", str(PROGRAM), "die", "21"], OFTEN)
        assert done.returncode == 137, done.stderr
        self.run = (folder / "runs" / "latest").resolve()

    def tool(self, words: list[str], more: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.programs.tool, *words],
            cwd=self.folder,
            env=os.environ | more,
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )

    def resume(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.tool(["resume", str(self.run), "--out", "more", *words], {"LIVE": "1"})


@pytest.fixture
def killed(tmp_path: Path, programs: Programs) -> Killed:
    return Killed(tmp_path, programs)


def left(stdout: str) -> str:
    return next((line for line in stdout.splitlines() if line.startswith("left ")), "")


def test_a_killed_run_goes_on_bit_by_bit(killed: Killed, programs: Programs) -> None:
    bare = subprocess.run([*programs.python, str(PROGRAM)], capture_output=True, text=True, check=True)
    done = killed.resume()  # the command of the run
    assert done.returncode == 0, done.stderr
    assert left(done.stdout) == left(bare.stdout) != ""
    assert done.stdout.splitlines()[-3:] == bare.stdout.splitlines()[-3:]  # the passes after the saved place
    assert f"resumed from {killed.run}, step " in done.stderr
    assert "not put back: what was printed above of passes that were over" in done.stderr
    assert "counters of the script's own, which begin at 0" in done.stderr


def test_learning_rates_can_be_scaled(killed: Killed, programs: Programs) -> None:
    bare = subprocess.run([*programs.python, str(PROGRAM)], capture_output=True, text=True, check=True)
    done = killed.resume("--lr-scale", "0.5", "--fresh-optimizer", "--", str(PROGRAM))
    assert done.returncode == 0, done.stderr
    assert "learning rates times 0.5, no moments" in done.stderr
    rate, whole = (float(left(text).split()[-1]) for text in (done.stdout, bare.stdout))
    assert rate == pytest.approx(whole / 2)


def test_a_damaged_state_gives_way_to_the_one_before(killed: Killed, programs: Programs) -> None:
    step, (state,), _ = newest(killed.run)
    damage(state.path)
    (killed.run / "last-good" / "rank-0.part").write_bytes(b"of a state that was begun")
    assert newest(killed.run)[0] < step
    done = killed.resume()
    bare = subprocess.run([*programs.python, str(PROGRAM)], capture_output=True, text=True, check=True)
    assert (
        f"{state.path.name} is damaged" in done.stderr
        and f"the state of step {newest(killed.run)[0]} is used" in done.stderr
    )
    assert left(done.stdout) == left(bare.stdout)
    damage(newest(killed.run)[1][0].path)
    done = killed.resume()
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "no whole state of every rank" in done.stderr


def test_a_program_that_it_does_not_fit_is_ended_and_gets_plain_files(killed: Killed) -> None:
    done = killed.resume("--", str(PROGRAM), "other")
    assert done.returncode == 2 and left(done.stdout) == ""
    assert "no model of the program has the names and shapes" in done.stderr
    plain = torch.load(killed.run / "last-good" / "plain" / "rank-0-model-0.pt", weights_only=True)
    assert plain["0.weight"].shape == (8, 4)


def damage(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_run_without_a_state_is_one_sentence(tmp_path: Path, programs: Programs) -> None:
    done = subprocess.run(
        [*programs.tool, "resume", str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "holds no state to go on from" in done.stderr


def test_a_run_that_does_not_say_what_was_run_asks_for_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say what was run"):
        known_command(create_run(tmp_path, "", [], "prod"))


def test_a_rate_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--lr-scale inf: expected a finite number"):
        resume(tmp_path, lr_scale=float("inf"))


@pytest.mark.sweep
def test_two_ranks_go_on_together_and_one_alone_is_refused(tmp_path: Path) -> None:
    program = PROGRAM.with_name("resumable_ranks.py")

    def ran(*words: str, live: str = "1") -> subprocess.CompletedProcess[str]:
        environ = os.environ | OFTEN | {"PYTHONPATH": str(PROGRAM.parents[3] / "src"), "LIVE": live}
        return subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        )

    def weights(stdout: str) -> list[str]:
        return sorted(line for line in stdout.splitlines() if line.startswith("left "))

    two = ("torch.distributed.run", "--standalone", "--nproc_per_node")
    bare = ran(*two, "2", str(program))
    run = ("debugtracer", "run", "--mode", "prod", "--out", "runs", sys.executable, "-m")
    ran(*run, *two, "2", str(program), live="")
    again = ("debugtracer", "resume", "runs/latest", "--out", "more", "--", sys.executable, "-m")
    done = ran(*again, *two, "2", str(program))
    assert done.returncode == 0, done.stderr
    assert weights(done.stdout) == weights(bare.stdout) and len(weights(bare.stdout)) == 2
    assert done.stderr.count(", step 1001 - put back: 1 model(s), 1 optimizer(s)") == 2
    alone = ran(*again, *two, "1", str(program))
    assert alone.returncode != 0 and weights(alone.stdout) == []
    assert "holds the state of 2 ranks and 1 rank train" in alone.stderr


@pytest.mark.sweep
def test_under_lightning_weights_and_place_go_on_and_its_counters_do_not(tmp_path: Path, programs: Programs) -> None:
    program = str(PROGRAM.with_name("resumable_lightning.py"))

    def ran(words: list[str], live: str = "1") -> subprocess.CompletedProcess[str]:
        environ = os.environ | OFTEN | {"LIVE": live}
        return subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    bare = ran([*programs.python, program])
    ran([*programs.tool, "run", "--mode", "prod", "--out", "runs", program], live="")
    done = ran([*programs.tool, "resume", "runs/latest", "--out", "more"])
    assert done.returncode == 0, done.stderr
    assert left(done.stdout) == left(bare.stdout) != ""
    saved = re.search(
        r"step (\d+) - put back: 1 model\(s\), 1 optimizer\(s\), random gen\w+, pass (\d+), batch (\d+)", done.stderr
    )
    assert saved is not None, done.stderr
    step, turn, batch = map(int, saved.groups())
    assert 0 < step <= 89 and (turn, batch) == (step // 40 + 1, step % 40)  # the state whose writing was over
    assert "counters of Lightning, which has checkpoints of its own for them" in done.stderr


@pytest.mark.sweep
@pytest.mark.parametrize("accumulated", ["1", "2"])
def test_under_trainer_it_goes_on_bit_by_bit(tmp_path: Path, programs: Programs, accumulated: str) -> None:
    program = str(PROGRAM.with_name("trainer_resumable.py"))

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        environ = os.environ | OFTEN | {"ACCUMULATED": accumulated}
        return subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)

    bare = ran(*programs.python, program)
    assert ran(*programs.tool, "run", "--mode", "prod", "--out", "runs", program, "die", "17").returncode == 137
    done = ran(*programs.tool, "resume", "runs/latest", "--out", "more", "--", program)
    assert done.returncode == 0, done.stderr
    step = newest((tmp_path / "runs" / "latest").resolve())[0]
    assert f"step {step} - put back: 1 model(s), 1 optimizer(s), 1 scheduler(s)" in done.stderr
    assert left(done.stdout) == left(bare.stdout) != ""
