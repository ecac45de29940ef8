"""What a step that is looked at closely costs beside a bare one, the first three and later ones.

    DEBUG_TRACER=1 is set by the script itself: .venv/bin/python benchmarks/inspected.py [--model transformer10m]
    [--steps 31] [--every 5]

Two models of one kind are trained in turns in one process: a bare step, a watched one, a bare one; the ratio is that of
the watched to the mean of the two around it, in CPU time of the training thread, one thread. The very first step is set
beside the very first bare one too, which makes its optimizer's state as well. Keeps
benchmarks/results/<date>-inspected.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
FIRST = 3  # steps that are inspected at the start
SETTLED = 10  # steps after which function tests are over


def timed(step: Callable[[], None]) -> float:
    """CPU seconds of this thread in one step."""
    begin = time.thread_time()
    step()
    return time.thread_time() - begin


def measured(kind: str, steps: int, every: int) -> dict[str, Any]:
    """Train bare and watched in turns, in a process that is watched from the start."""
    import torch

    from benchmarks.overhead import MODELS, batches, run_steps
    from debugtracer import session

    torch.set_num_threads(1)
    running = session.active()
    assert running is not None

    def loop() -> Callable[[], None]:
        torch.manual_seed(0)
        model, data, size = MODELS[kind]()
        optimizer, feed = torch.optim.AdamW(model.parameters(), lr=1e-4), batches(data, size)
        return lambda: run_steps(model, optimizer, feed, 1, "cpu") and None

    def bare(step: Callable[[], None]) -> float:
        with running.hooks.disabled():
            return timed(step)

    warm, other, mine = loop(), loop(), loop()
    for _ in range(3):
        bare(warm)
    first = [bare(other) for _ in range(FIRST)]
    rows = []
    for _ in range(steps):
        before, watched, after = bare(other), timed(mine), bare(other)
        rows.append((watched, (before + after) / 2))
    ratios = [watched / around for watched, around in rows]
    later = [ratios[step] for step in range(SETTLED, steps) if step % every == 0]
    plain = [ratios[step] for step in range(SETTLED, steps) if step % every not in (0, 1)]
    return {
        "bare_ms": round(1e3 * statistics.median(around for _, around in rows), 2),
        "first": [round(ratio, 2) for ratio in ratios[:FIRST]],
        "first_beside_first_bare": [round(rows[n][0] / first[n], 2) for n in range(FIRST)],
        "inspected": round(statistics.median(later), 3),
        "plain": round(statistics.median(plain), 3),
        "each": [round(ratio, 2) for ratio in ratios],
    }


def main() -> None:
    """Start the measured process, print and keep."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--model", default="transformer10m")
    asked.add_argument("--steps", type=int, default=31)
    asked.add_argument("--every", type=int, default=5)
    asked.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    words = asked.parse_args()
    if words.child:
        print(json.dumps(measured(words.model, words.steps, words.every)), flush=True)
        os._exit(0)  # what the run says at its end is not what is measured
    from stamp import stamp

    with tempfile.TemporaryDirectory() as out:
        settings = {"": "1", "_OUT": out, "_MODE": "observe", "_COST": "1", "_INSPECT_STEPS": str(words.every)}
        env = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")} | {"OMP_NUM_THREADS": "1"}
        env |= {f"DEBUG_TRACER{name}": value for name, value in settings.items()}
        done = subprocess.run([sys.executable, __file__, *sys.argv[1:], "--child"], env=env, stdout=-1, text=True)
    if done.returncode:
        raise SystemExit("inspected: the measured process failed")
    result = stamp() | {"model": words.model, "every": words.every} | json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(result))
    path = Path(__file__).parent / "results" / f"{result['date']}-inspected.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
