"""Four bugs (docs/rationale/replay.md#four-bugs) inside each kind of loop: is the operator, the line, the sample and
the rank named?

    python scripts/loops.py [--only LOOP/BUG,...] [--jobs 2] [--write]   --write: keep the rows, renew docs/results.md

The programs are tests/frameworks/bugs; each runs under `debug-tracer run` in mode dev as it stands. Needs lightning,
transformers and accelerate (the test extra).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
import results_page
from kept import keep

ROOT = Path(__file__).resolve().parents[1]
BUGS_DIR = ROOT / "tests" / "frameworks" / "bugs"
LANGUAGE = BUGS_DIR / "language.py"
BAD = 43
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
LOOPS = {
    "plain": "plain loop",
    "lightning_trainer": "Lightning (accumulation, clipping)",
    "hf_trainer": "Hugging Face Trainer (accumulation, clipping)",
    "accelerated": "accelerate (accumulation, clipping)",
    "ddp": "DDP, 2 ranks",
    "fsdp2": "FSDP2, 2 ranks",
    "compiled": "torch.compile",
}
SEVERAL_RANKS = {"ddp", "fsdp2", "fsdp1"}
ALL_OF_THE_LINE = ("op", "line", "sample", "rank")


@dataclass(frozen=True)
class Truth:
    """What the verdict of a bug must name."""

    op: str
    marker: str
    """The words in the comment at the guilty line."""
    direction: str = "forward"

    def line(self) -> int:
        """The guilty line of language.py, from 1."""
        return next(
            n for n, text in enumerate(LANGUAGE.read_text().splitlines(), 1) if text.endswith(f"# {self.marker}")
        )


BUGS = {
    "mask": Truth("aten::_softmax", "nothing left to attend to"),
    "fp16": Truth("aten::bmm", "overflows"),
    "log0": Truth("aten::log", "of a word that is hidden"),
    "sqrt0": Truth("aten::sqrt", "slope at nought", "backward"),
}


def bad_rank(loop: str) -> int:
    """The rank that is given the bad sample in the first epoch; 0 where there is one rank."""
    if loop not in SEVERAL_RANKS:
        return 0
    import torch

    # DistributedSampler(seed=1), epoch 0
    order = torch.randperm(96, generator=torch.Generator().manual_seed(1)).tolist()
    return int(order.index(BAD) % 2)


def watched(
    loop: str,
    bug: str,
    work: Path,
    seconds: float = 400.0,
    tool: Sequence[str] = (sys.executable, "-m", "debugtracer"),
    launcher: Sequence[str] = TORCHRUN,
) -> tuple[dict[str, Any], str]:
    """The JSON report of one run in mode dev, and what it wrote on stderr; under this command of debug-tracer and this
    launcher of two ranks, by default those of this Python."""
    env = dict(
        os.environ, PYTHONPATH=str(ROOT / "src"), OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", DEBUG_TRACER_STRICT="1"
    )
    start = launcher if loop in SEVERAL_RANKS else (sys.executable,)
    words = [*tool, "run", "--out", str(work / "runs"), *start, str(BUGS_DIR / f"{loop}.py"), bug]
    done = subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, timeout=seconds)
    shown = [*tool, "report", str(work / "runs"), "--format", "json"]
    report = subprocess.run(shown, cwd=work, env=env, capture_output=True, text=True, timeout=seconds)
    if report.returncode:
        return {"verdict": None, "run": {"exit_code": done.returncode}}, done.stderr + report.stderr
    return json.loads(report.stdout), done.stderr


def marks(loop: str, bug: str, report: dict[str, Any]) -> dict[str, bool]:
    """Which parts of the verdict are true."""
    verdict, truth = report["verdict"] or {}, BUGS[bug]
    return {
        "op": verdict.get("op") == truth.op and verdict.get("direction") == truth.direction,
        "line": Path(verdict.get("file") or "").name == LANGUAGE.name and verdict.get("line") == truth.line(),
        "sample": verdict.get("sample_index") == [BAD],
        "rank": verdict.get("rank") == bad_rank(loop),
    }


def row(loop: str, bug: str) -> tuple[str, str, dict[str, bool], dict[str, Any]]:
    """One run, judged."""
    with tempfile.TemporaryDirectory() as folder:
        report, said = watched(loop, bug, Path(folder))
    judged, verdict = marks(loop, bug, report), report["verdict"] or {}
    wrong = [name for name, right in judged.items() if not right]
    told = (
        "right"
        if not wrong
        else "WRONG "
        + ", ".join(f"{name}: {verdict.get('sample_index' if name == 'sample' else name)}" for name in wrong)
    )
    print(f"{loop}/{bug}: {told}; {verdict.get('class')} {verdict.get('status')}", flush=True)
    if not verdict:
        print(said[-2000:], flush=True)
    return loop, bug, judged, verdict


def as_plain(loop: str, bug: str, judged: dict[str, bool], verdict: dict[str, Any]) -> dict[str, Any]:
    """A row as it is kept: what was right, and how sure the verdict was."""
    return {
        "loop": loop,
        "title": LOOPS[loop],
        "bug": bug,
        "marks": judged,
        "class": verdict.get("class"),
        "status": verdict.get("status"),
    }


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="LOOP, LOOP/BUG or BUG, separated by commas")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--write", action="store_true", help="keep the rows in benchmarks/results/ and renew docs/results.md"
    )
    args = parser.parse_args()
    only = {name for name in args.only.split(",") if name}
    wanted = [(loop, bug) for loop in LOOPS for bug in BUGS if not only or only & {loop, bug, f"{loop}/{bug}"}]
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda pair: row(*pair), wanted))
    if args.write and not only:
        keep("loops", {"rows": [as_plain(*each) for each in rows]})
        results_page.write()
    sys.exit(0 if all(all(judged.values()) for _, _, judged, _ in rows) else 1)


if __name__ == "__main__":
    main()
