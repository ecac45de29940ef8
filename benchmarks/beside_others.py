"""A loop of steps of about 5 ms with torch's default number of threads, beside processes that keep cores busy: bare and
watched steps interleaved in one process, wall time.

    python benchmarks/beside_others.py [--busy 0,1,2] [--seconds 40] [--cost 1]

Parallel regions wait for threads that have no core then, so that bare steps are many times slower too: the ratio is
what counts, and it needs a machine on which nothing else runs. Prints one line for each number of busy processes.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

BUSY = "while True: sum(range(10_000))"
STEPS = 10  # between two looks at the clock


def measured(seconds: float) -> dict[str, list[float]]:
    """Milliseconds of a step, bare and watched, for so many seconds."""
    import torch

    from benchmarks.peers import configuration
    from benchmarks.step_loops import mlp

    torch.manual_seed(0)
    training, times = mlp(256, 4, 48), dict[str, list[float]](bare=[], watched=[])
    with configuration("watched")(training.model):
        training.run(STEPS)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for word in random.sample(list(times), len(times)):
            with configuration(word)(training.model):
                training.run(2)
                begin = time.perf_counter()
                training.run(STEPS)
                times[word].append(1e3 * (time.perf_counter() - begin) / STEPS)
    return times


def told(busy: int, threads: int, times: dict[str, list[float]]) -> str:
    """One line: medians and their ratio."""
    bare, watched = (statistics.median(times[word]) for word in ("bare", "watched"))
    return (
        f"{busy} busy, {threads} threads: bare {bare:.1f} ms, watched {watched:.1f} ms, {watched / bare:.2f} times "
        f"({len(times['bare'])} rounds of {STEPS} steps)"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", default="0,1,2", help="numbers of busy processes, with commas")
    parser.add_argument("--seconds", type=float, default=40.0, help="for each number")
    parser.add_argument("--cost", default="", help="the promised share, 1 for everything recorded")
    args = parser.parse_args(arguments)
    os.environ |= {"DEBUG_TRACER_OUT": tempfile.mkdtemp(), "DEBUG_TRACER_MODE": "observe"}
    if args.cost:
        os.environ["DEBUG_TRACER_COST"] = args.cost
    import torch

    for busy in map(int, args.busy.split(",")):
        others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
        try:
            print(told(busy, torch.get_num_threads(), measured(args.seconds)), flush=True)
        finally:
            for other in others:
                other.kill()
                other.wait()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # the reports at the end of a watched run are not what is measured
