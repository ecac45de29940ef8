"""What judging costs: microseconds of CPU per step for all default checks, on a healthy watched run, off the training
thread.

    .venv/bin/python benchmarks/judging.py [--steps 600]

Trains a small transformer under watch, then judges its stored run again check by check (`Judge`, the same code as
live). Prints and keeps benchmarks/results/<date>-judging.json.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import tempfile
import time
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

import debugtracer
from benchmarks.overhead import Transformer
from debugtracer.checks.check import Check
from debugtracer.diagnosis.judging.judge import Judge
from debugtracer.trace.events import Judged, Observed
from debugtracer.trace.facts.fact import Fact, from_plain
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.window import Window

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp


class Timed(Judge):
    """A judge that counts the CPU time of each check."""

    def __init__(self) -> None:
        super().__init__()
        self.cpu_s: collections.Counter[str] = collections.Counter()

    def ask(self, check: Check, window: Window):  # type: ignore[no-untyped-def]
        """One check, timed."""
        begin = time.thread_time()
        found = list(super().ask(check, window))
        self.cpu_s[check.slug] += time.thread_time() - begin  # type: ignore[assignment]
        return iter(found)


def watched(steps: int) -> tuple[Path, float]:
    """A healthy run under watch; its folder, and microseconds per step that the live judge took."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Transformer(width=96, layers=2, length=32)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    ids = torch.randint(0, 96, (8 * steps, 33))
    out = Path(tempfile.mkdtemp())
    with debugtracer.watch(out=out, mode="observe"):
        for (batch,) in DataLoader(TensorDataset(ids), batch_size=8):
            loss = torch.nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    (judged,) = [e for e in open_trace(out).events() if isinstance(e, Judged)]
    return out, judged.judge_us


def again(out: Path) -> tuple[Timed, int, float]:
    """The stored run judged again: the judge, steps, microseconds per step in all."""
    trace = open_trace(out)
    values: dict[int, dict[str, float]] = collections.defaultdict(dict)
    for name in trace.names():
        for step, value in zip(*trace.series(name), strict=True):
            values[step][name] = value
    facts: dict[int, list[Fact]] = collections.defaultdict(list)
    for event in trace.events():
        fact = from_plain(event.word, event.fact) if isinstance(event, Observed) else None
        if fact is not None:
            facts[fact.ref.step].append(fact)
    judge = Timed()
    begin = time.thread_time()
    for step in sorted(values):
        list(judge.judge(StepRef(iteration=step, step=step), values[step], facts[step]))
    return judge, len(values), 1e6 * (time.thread_time() - begin) / len(values)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    out, live_us = watched(args.steps)
    judge, steps, all_us = again(out)
    dearest = {slug: round(1e6 * seconds / steps, 2) for slug, seconds in judge.cpu_s.most_common(12)}
    print(
        f"{len(judge.checks)} checks, {steps} steps: {all_us:.0f} us of CPU per step offline, {live_us:.0f} us live, "
        "in the judge's thread"
    )
    for slug, cost in dearest.items():
        print(f"  {slug:36} {cost:8.2f} us per step, asked {judge.asked[slug]} times")
    result = stamp() | {
        "steps": steps,
        "checks": len(judge.checks),
        "offline_us_per_step": round(all_us, 1),
        "live_us_per_step": round(live_us, 1),
        "dearest": dearest,
    }
    (Path(__file__).parent / "results" / f"{result['date']}-judging.json").write_text(
        json.dumps(result, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
