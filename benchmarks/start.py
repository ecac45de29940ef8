"""What a start and a short run cost beyond bare: CPU seconds until the first step, resident memory, the supervisor.

    .venv/bin/python benchmarks/start.py [--rounds 7] [--steps 300]

Each round starts the same small program bare, with DEBUG_TRACER=1, and under `debug-tracer run`, one after the other
and each from nothing, so that what else the machine does falls on all three. CPU time of the process, not wall time;
medians of the rounds. Prints and keeps benchmarks/results/<date>-start.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
from stamp import stamp

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """
import json, resource, sys
import torch


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident_mb():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
said = {"start_cpu_s": cpu_s(), "start_mb": resident_mb()}
for step in range(int(sys.argv[1])):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
print(json.dumps(said | {"end_cpu_s": cpu_s(), "end_mb": resident_mb()}))
"""
KINDS = ("bare", "variable", "supervised")


def once(kind: str, program: Path, steps: int) -> dict[str, float]:
    """Start it once, and return what it said of itself; with the supervisor's own CPU seconds."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER") and k != "PYTHONDONTWRITEBYTECODE"}
    env |= {"OMP_NUM_THREADS": "1", "DEBUG_TRACER_OUT": str(program.parent / "runs")}
    words = [sys.executable, str(program), str(steps)]
    if kind == "variable":
        env["DEBUG_TRACER"] = "1"
    if kind == "supervised":
        words = [sys.executable, "-m", "debugtracer", "run", "--mode", "observe", *words[1:]]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        text = running.stdout.read()
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode:
        raise SystemExit(f"start: {' '.join(words)} ended with status {running.returncode}")
    said = {name: float(value) for name, value in json.loads(text).items()}
    return said | {"process_cpu_s": used.ru_utime + used.ru_stime}


def measured(rounds: int, steps: int) -> dict[str, Any]:
    """All rounds, interleaved; the first of each kind fills the caches and is thrown away."""
    seen: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "train.py"
        program.write_text(PROGRAM)
        for number in range(rounds + 1):
            for kind in KINDS:
                said = once(kind, program, steps)
                if number:
                    seen[kind].append(said)
    return differences({kind: middle(rows) for kind, rows in seen.items()})


def middle(rows: list[dict[str, float]]) -> dict[str, float]:
    """The median of each number."""
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def differences(of: dict[str, dict[str, float]]) -> dict[str, Any]:
    """What is beyond bare; `wait4` counts a supervisor together with its child."""
    bare, inside, whole = (of[kind] for kind in KINDS)
    return {
        "medians": of,
        "start_cpu_s": round(inside["start_cpu_s"] - bare["start_cpu_s"], 3),
        "run_cpu_s": round(inside["end_cpu_s"] - bare["end_cpu_s"], 3),
        "start_mb": round(inside["start_mb"] - bare["start_mb"], 1),
        "end_mb": round(inside["end_mb"] - bare["end_mb"], 1),
        "supervisor_cpu_s": round(whole["process_cpu_s"] - inside["process_cpu_s"], 3),
    }


def main() -> None:
    """Measure, print and keep."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rounds", type=int, default=7)
    asked.add_argument("--steps", type=int, default=300)
    words = asked.parse_args()
    result = stamp() | {"rounds": words.rounds, "steps": words.steps} | measured(words.rounds, words.steps)
    print(json.dumps(result, indent=1))
    path = ROOT / "benchmarks" / "results" / f"{result['date']}-start.json"
    path.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
