"""What a long run of cheap steps leaves behind: bytes on disk, memory, CPU of our threads, and what opening it costs.

    .venv/bin/python benchmarks/long_run.py [--steps 1000000] [--real 0]

The numbers of each step are made up and go the way of real ones: `StepPublisher`, judge, `Output`, trace writer. With
--real N, N steps of a tiny model are trained as well. Prints and keeps benchmarks/results/<date>-long-run.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

import debugtracer
from benchmarks.store import training
from debugtracer.session import Session
from debugtracer.trace.store.reader import open_trace

PARTS = 10  # memory is measured so many times in a run


def made_up(session: Session, steps: int) -> Iterator[int]:
    """Publish the numbers of so many steps; yield each step that is over."""
    session.output.open()
    state, numbers = session.state, session.health_gate.sink
    for step, values in enumerate(training(steps)):
        numbers.publish(step, values)
        state.step += 1
        state.iteration += 1
        yield step


def trained(session: Session, steps: int) -> Iterator[int]:
    """Train a tiny model for so many steps; yield each one that is over."""
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    inputs = torch.rand(64, 6, 4)
    for step in range(steps):
        optimizer.zero_grad()
        model(inputs[step % 64]).pow(2).mean().backward()
        optimizer.step()
        yield step


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def measured(out: Path, steps: int, run: Any) -> dict[str, Any]:
    """Run so many steps under watch; return what they cost and what they left."""
    with debugtracer.watch(out=out, mode="observe") as watch:
        session: Session = watch.session
        live = session.incidents.findings.live
        wall, own, everything = time.perf_counter(), time.thread_time(), time.process_time()
        part = steps // PARTS
        memory = [resident() for step in run(session, steps) if (step + 1) % part == 0]
        own, everything = time.thread_time() - own, time.process_time() - everything
        wall, judge = time.perf_counter() - wall, live.judge_s
    folder = open_trace(out).path
    files = {path.name: path.stat().st_size for path in sorted((folder / "rank=0").iterdir())}
    events = files.get("events.jsonl", 0)
    return {
        "steps": steps,
        "wall_s": round(wall, 2),
        "loop_us_per_step": round(1e6 * own / steps, 2),
        "judge_us_per_step": round(1e6 * judge / steps, 2),
        "judge_share_of_wall": round(judge / wall, 4),
        "writer_and_other_threads_us_per_step": round(1e6 * (everything - own - judge) / steps, 2),
        "steps_not_judged": live.thinned,
        "events_bytes": events,
        "series_bytes_per_step": round((sum(files.values()) - events) / steps, 2),
        "resident_mb": [round(size / 2**20) for size in memory],
        "report_cpu_s": opened(folder),
    }


def opened(folder: Path) -> float:
    """CPU seconds of `debug-tracer report RUN --format json`, imports included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "debugtracer", "report", str(folder), "--format", "json"]
    subprocess.run(command, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--real", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    result: dict[str, Any] = stamp() | {"made_up": measured(Path(tempfile.mkdtemp()), args.steps, made_up)}
    if args.real:
        result["trained"] = measured(Path(tempfile.mkdtemp()), args.real, trained)
    text = json.dumps(result, indent=1)
    print(text)
    (Path(__file__).parent / "results" / f"{result['date']}-long-run.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
