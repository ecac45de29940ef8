"""The share of the time that debug-tracer says was its own, beside the true one: watched against bare steps of ten
loops, interleaved in one process.

    python benchmarks/told_share.py [--only mlp,rl] [--rounds 9] [--cost 1] [--rests]
    python benchmarks/told_share.py --table benchmarks/results/DATE-told-share.json

True is the CPU time of the process in watched steps beyond bare ones, a share of the watched; `thread` counts the
training thread alone. Told is what the governor counts in the same steps, a share of their wall time: what clocks
inside our functions read, times what they miss (recorder/unseen_cost.py, learnt in the program after it has
rested once, as one that costs more than its promise does), and the judge's CPU time. `unseen` is the factor
with which told would be true. Exit status 1 with --check where told is further than 2 points from true.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.by_commit import add_row, load

KIND = "told-share"
TEN = (
    "mlp 0.3 ms", "mlp 2 ms", "mlp 10 ms", "cnn 2 ms", "cnn 10 ms", "lstm 10 ms", "transformer 10 ms", "rl 2 ms",
    "lbfgs 10 ms", "gan 10 ms",
)  # fmt: skip
SPENT_S = 100.0  # seconds put on our account so that all rests
PUBLISHINGS = 4  # in which all comes to rest, two at least
WARM = 130  # watched steps before the first round
CLOCKS = time.process_time, time.thread_time, time.perf_counter
POINTS = 2.0  # that told may differ from true


def timed(name: str, rounds: int, rests: bool) -> dict[str, Any]:
    """The shares of one loop in this process."""
    import torch

    from benchmarks.peers import configuration
    from benchmarks.step_loops import LOOPS
    from debugtracer import session
    from debugtracer.recorder.unseen_cost import REST_UNSEEN, UNSEEN

    torch.set_num_threads(1)
    torch.manual_seed(0)
    (loop,) = [loop for loop in LOOPS if loop.name == name]
    training = loop.make()
    bare_s, watched_s = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    clocks_s = judge_s = 0.0
    steps, each_s = 0.0, None
    with configuration("watched")(training.model):
        training.run(WARM)
        rest_once(training.run)
    for _ in range(rounds):
        for word in random.sample(["bare", "watched"], 2):
            with configuration(word)(training.model):
                running = session.active()
                state = running.state if running is not None else None
                if rests and running is not None:
                    rest_deeply(training.run, running)
                training.run(3)
                if running is not None:
                    running.governor.resume()
                before = (state.own_s, state.judge_s, state.unseen.work_steps) if state is not None else (0.0, 0.0, 0.0)
                begin = [clock() for clock in CLOCKS]
                training.run(loop.chunk)
                spent_s = [clock() - at for clock, at in zip(CLOCKS, begin, strict=True)]
                total = bare_s if word == "bare" else watched_s
                total[:] = [a + b for a, b in zip(total, spent_s, strict=True)]
                if word == "watched" and state is not None:
                    clocks_s, judge_s = clocks_s + state.own_s - before[0], judge_s + state.judge_s - before[1]
                    steps += state.unseen.work_steps - before[2]
                    each_s = state.unseen.each_s
    missed_s = REST_UNSEEN * clocks_s if rests else UNSEEN * clocks_s if each_s is None else each_s * steps
    return shares(bare_s, watched_s, clocks_s, judge_s, clocks_s + missed_s + judge_s)


def rest_deeply(run: Callable[[int], None], running: Any) -> None:
    """Let all rest as after minutes: root calls too, which a publishing decides about, and the gradients of six of
    seven updates, as the next one does. A loop in which one of them never rests is left as it is."""
    from debugtracer.recorder.gate.resting_steps import MOST

    for _ in range(PUBLISHINGS):
        running.state.own_s += SPENT_S
        run(MOST)
        running.events.resting.steps.publish()
        if running.events.resting.steps.leaves_out and running.events.calls.rests:
            return


def rest_once(run: Callable[[int], None]) -> None:
    """Let all rest for as long as it takes to learn what a step takes then, and all work again as after an
    incident."""
    from debugtracer import session
    from debugtracer.recorder.governor import Part
    from debugtracer.recorder.unseen_cost import ENOUGH

    running = session.active()
    assert running is not None
    state, governor = running.state, running.governor
    state.own_s += SPENT_S
    run(1)
    governor.resume()  # those seconds are no block's
    while len(state.unseen.at_rest) < ENOUGH and governor.cost < 1:
        run(20)
    state.incident_s += 1e-9
    while not governor.affords(Part.OBSERVERS):
        run(20)


def shares(
    bare_s: list[float], watched_s: list[float], clocks_s: float, judge_s: float, told_s: float
) -> dict[str, Any]:
    """Percent of the watched time that was ours, true and told, from seconds of process, training thread and wall."""
    extra_s = watched_s[0] - bare_s[0]
    return {
        "true": round(100 * extra_s / watched_s[0], 1),
        "thread": round(100 * (watched_s[1] - bare_s[1]) / watched_s[1], 1),
        "told": round(100 * told_s / watched_s[2], 1),
        "clocks": round(100 * clocks_s / watched_s[2], 1),
        "judge": round(100 * judge_s / watched_s[2], 1),
        "unseen": round((extra_s / watched_s[0] * watched_s[2] - judge_s) / clocks_s, 2) if clocks_s > 0 else None,
    }


def in_a_process(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """The same in a process of its own, with one session."""
    with tempfile.TemporaryDirectory() as out:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")}
        environment |= {"DEBUG_TRACER_OUT": out, "DEBUG_TRACER_MODE": "observe", "OMP_NUM_THREADS": "1"}
        if args.cost:
            environment["DEBUG_TRACER_COST"] = args.cost
        if args.rests:
            environment["DEBUG_TRACER_INSPECT_STEPS"] = "0"
        words = [sys.executable, __file__, "--child", name, "--rounds", str(args.rounds)]
        words += ["--rests"] if args.rests else []
        done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}", file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row_of(name: str, row: dict[str, Any]) -> str:
    """One loop as a row of the table."""
    off = row["told"] - row["true"]
    cells = [name, *(f"{row[word]:.1f}" for word in ("true", "told")), f"{off:+.1f}"]
    return f"| {' | '.join([*cells, *(str(row[word]) for word in ('thread', 'clocks', 'judge', 'unseen'))])} |"


def table(path: Path) -> str:
    """What a kept file says, a section for each commit."""
    lines = []
    for key, result in load(path)["results"].items():
        lines += [f"{key}, {result['date']}, {result['machine']}", ""]
        lines += ["| loop | true, % | told, % | off | thread | clocks | judge | unseen |", "|---" * 8 + "|"]
        lines += [*(row_of(name, row) for name, row in result["rows"].items()), ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="loops whose name holds one of these words, with commas")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cost", default="", help="the promised share, 1 for everything recorded")
    parser.add_argument("--rests", action="store_true", help="with all at rest that may be")
    parser.add_argument(
        "--check", action="store_true", help=f"status 1 where told is further than {POINTS:g} points off"
    )
    parser.add_argument("--table", type=Path, help="only print the table of a kept file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.table:
        print(table(args.table))
        return 0
    if args.child:
        print(json.dumps(timed(args.child, args.rounds, args.rests)), flush=True)
        os._exit(0)  # the reports at the end of a watched run are not what is measured
    wanted = [word for word in args.only.split(",") if word]
    far = 0
    for name in [name for name in TEN if not wanted or any(word in name for word in wanted)]:
        row = in_a_process(name, args)
        if row:
            add_row(KIND, name, row, "at rest" if args.rests else f"cost {args.cost}" if args.cost else "")
            print(row_of(name, row), flush=True)
        far += not row or abs(row["told"] - row["true"]) > POINTS
    return int(bool(args.check and far))


if __name__ == "__main__":
    sys.exit(main())
