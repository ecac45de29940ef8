"""Kills a run at random moments (kill -9) while its state is saved and put back, and looks whether the last good one
still loads: no moment may cost the state.

    .venv/bin/python benchmarks/kills.py [--kills 50] [--seed 0] [--only save,roll-back] [--tool COMMAND]
    .venv/bin/python benchmarks/kills.py --inside --kills 16

The program (tests/responses/programs/saving.py) saves with every batch and breaks its weights twice, so that kills fall
into the writing of a state, into snapshots, incidents and roll-backs. With --inside it kills itself while one of its
threads is in a function of ours (killed_inside.py beside it): each of INSIDE in turn. Prints and keeps
benchmarks/results/<date>-kills.json, or <date>-kills-inside.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from debugtracer.errors import DebugTracerError
from debugtracer.recorder.output.last_good import verified
from debugtracer.recorder.state.finite import all_finite
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.saved_state import newest

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "tests" / "responses" / "programs" / "saving.py"
OFTEN = {"DEBUG_TRACER_LAST_GOOD_S": "0.000001", "DEBUG_TRACER_COST": "1", "OMP_NUM_THREADS": "1"}
WINDOW_S = {"save": 1.5, "roll-back": 1.0}
"""Seconds in which the kill falls: after the first state; after an update that broke the weights."""
INSIDE = {
    "roll-back": "state/step_history:go_back",
    "response": "responses/responder:answered",
    "snapshot": "state/snapshot_ring:consider",
    "checkpoint": "output/last_good:save",
}
LOOKS = {"roll-back": 2, "response": 40, "snapshot": 3, "checkpoint": 60}
"""Looks that find the program in it, at most, before it is killed: as many as it is in there for, about."""
FIRST_S = 180.0  # seconds until the first state is there, at most


@dataclass(frozen=True)
class Kill:
    """What one kill has left."""

    kind: str
    after_s: float
    """Since the first state, or since the weights broke."""
    loads: bool
    """The newest whole state loads, and is finite."""
    step: int = -1
    writing: bool = False
    """A state was being written."""
    damaged: int = 0
    """Files that are not what their sums say; the state is then the one before."""
    acted: int = 0
    """Actions that stand in the run folder, which can be read."""
    problem: str = ""
    where: str = ""
    """The functions that it was killed in, the innermost first, where that was asked for."""


def killed_inside(kind: str, moment: random.Random, folder: Path, tool: Sequence[str]) -> Kill:
    """Start the program, which kills itself inside a function of this kind, and look at what is there."""
    program = PROGRAM.with_name("killed_inside.py")
    words = [*tool, "run", "--mode", "prod", "--out", "runs", str(program), INSIDE[kind]]
    # states are saved now and then alone, where each one would make a snapshot too dear to be held
    pace = {} if kind == "checkpoint" else {"DEBUG_TRACER_LAST_GOOD_S": "0.2"}
    environment = os.environ | OFTEN | pace | {"PYTHONPATH": str(ROOT / "src")}
    begin = time.monotonic()
    last = ""
    for looks in (moment.randint(1, LOOKS[kind]), 1, 1):  # a busy machine may look too seldom for the first
        if not last.startswith("killed in "):
            done = subprocess.run(
                [*words, str(looks)], cwd=folder, env=environment, capture_output=True, text=True, timeout=FIRST_S
            )
            last = done.stdout.splitlines()[-1] if done.stdout else ""
    after_s = time.monotonic() - begin
    if not last.startswith("killed in "):
        return Kill(kind, round(after_s, 4), False, problem=f"it was not killed: {done.stderr[-300:]}")
    return replace(looked_at((folder / "runs" / "latest").resolve(), kind, after_s), where=last[len("killed in ") :])


def killed(kind: str, moment: random.Random, folder: Path, tool: Sequence[str]) -> Kill:
    """Start the program, kill it at a random moment of this kind, and look at what is there."""
    words = [*tool, "run", "--mode", "prod", "--out", "runs", str(PROGRAM)]
    environment = os.environ | OFTEN | {"PYTHONPATH": str(ROOT / "src")}
    after_s = moment.uniform(0, WINDOW_S[kind])
    with subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as running:
        assert running.stdout is not None
        pid = int(running.stdout.readline())
        run = first_state(folder)
        if kind == "roll-back":
            running.stdout.readline()  # the weights are broken
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
        running.communicate(timeout=120)
    return looked_at(run, kind, after_s)


def first_state(folder: Path) -> Path:
    """The run, once it has a state. Raises TimeoutError."""
    end = time.monotonic() + FIRST_S
    while time.monotonic() < end:
        try:
            run = (folder / "runs" / "latest").resolve()
            newest(run)
            return run
        except DebugTracerError:
            time.sleep(0.01)
    raise TimeoutError("no state was saved")


def looked_at(run: Path, kind: str, after_s: float) -> Kill:
    """What is left of a run that was killed."""
    writing = any(run.glob("last-good/*.part*"))
    try:
        step, states, problems = newest(run)
        loaded = verified(states[0].path)
        good = loaded["step"] == step and all_finite(tensors((loaded["models"], loaded["optimizers"])))
        acted = sum(type(event).__name__ == "Acted" for event in open_trace(run).events())
    except Exception as error:
        return Kill(kind, round(after_s, 4), False, writing=writing, problem=f"{type(error).__name__}: {error}")
    return Kill(kind, round(after_s, 4), good, step, writing, len(problems), acted)


def main() -> int:
    """Status 1 where a state was lost."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--inside", action="store_true", help="kill inside functions of ours")
    parser.add_argument("--tool", default=f"{sys.executable} -m debugtracer", help="the command to kill")
    asked = parser.parse_args()
    tool = shlex.split(asked.tool)
    how, every = (killed_inside, INSIDE) if asked.inside else (killed, WINDOW_S)
    kinds, moment = asked.only.split(",") if asked.only else [*every], random.Random(asked.seed)
    kills = []
    for number in range(asked.kills):
        with tempfile.TemporaryDirectory(prefix="kill-") as folder:
            kills.append(how(kinds[number % len(kinds)], moment, Path(folder), tool))
        print(number, kills[-1], flush=True)
    lost = [kill for kill in kills if not kill.loads]
    found = {
        **stamp(),
        "kills": len(kills),
        "lost": len(lost),
        "while_a_state_was_written": sum(kill.writing for kill in kills),
        "the_one_before_was_used": sum(kill.damaged > 0 for kill in kills),
        "after_an_action": sum(kill.acted > 0 for kill in kills),
        "each": msgspec.to_builtins(kills),
    }
    print(json.dumps({key: value for key, value in found.items() if key != "each"}, indent=1))
    if not lost and asked.kills >= (15 if asked.inside else 50):
        name = f"{found['date']}-kills{'-inside' * asked.inside}.json"
        path = ROOT / "benchmarks" / "results" / name
        path.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
