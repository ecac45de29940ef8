"""What debug-tracer costs in training programs of other people once all rests that may: steps bare, watched and with
the least that could be read, in turns inside one process.

    python benchmarks/programs_at_rest.py [--only Lightning,sac] [--seconds 70] [--sources FOLDER] [--mirror FOLDER]
    python benchmarks/programs_at_rest.py --table benchmarks/results/DATE-programs-at-rest.json

Eight programs of benchmarks/other_programs.py, those with the shortest steps. Each is watched for 14 s, then so many
seconds are put on our account that all rests, as after minutes of its steps, and what is patched is taken away and put
back every 256 steps or second (benchmarks/rest_turns.py): CPU time of the training thread a step, ratios
of neighbours. `floor`: the loss of each backward and one fused norm of each update's gradients are read, and nothing
else of ours is there. Two programs run at a time, on a machine on which nothing else does: about 7 minutes. A result is
kept by commit.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stamp import ROOT

from benchmarks.by_commit import add_row, load
from benchmarks.other_programs import PROGRAMS, Program
from benchmarks.program_data import stand_ins
from benchmarks.program_packages import interpreter
from benchmarks.programs import fetched, place
from benchmarks.rest_turns import STEP_ENDS, Wanted

KIND = "programs-at-rest"
WARM_S = 14.0
TURNS = Path(__file__).with_name("rest_turns.py")
# program -> its length in times n: more steps than it comes to
LENGTHS = {
    "Lightning Trainer": 1200,
    "pytorch/examples gcn": 300,
    "transformers Trainer": 120,
    "CleanRL sac": 120,
    "pytorch/examples word_language_model": 240,
    "pytorch/examples regression": 180,
    "pytorch/examples reinforce": 60,
    "CleanRL dqn": 120,
}
# where a step ends in the programs that write their weights themselves
ENDS = {
    "pytorch/examples word_language_model": (r"(?m)^(\s+)(total_loss \+= loss.item\(\))", rf"\1{STEP_ENDS}()\n\1\2"),
    "pytorch/examples regression": (r"(?m)^(\s+)(# Stop criterion)", rf"\1{STEP_ENDS}()\n\1\2"),
}


def prepared(name: str) -> Program:
    """The program of this name, which tells where its steps end if no optimizer does."""
    (program,) = [program for program in PROGRAMS if program.name == name]
    return replace(program, edits=(*program.edits, ENDS[name])) if name in ENDS else program


def measure(program: Program, source: Path, python: str, seconds: float) -> dict[str, Any]:
    """The figures of one program, in a folder of its own; `error` where there are none."""
    length = LENGTHS[program.name] * program.length
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        begin, script = place(program, source, work, length)
        stubs = stand_ins(work / "stand_ins", program.shadowed)
        wanted = Wanted(str(work / "found.json"), WARM_S, seconds, program.name in ENDS)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DEBUG_TRACER")} | {
            "PYTHONPATH": os.pathsep.join([str(stubs), str(source), str(ROOT / "src")]),
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "HF_HUB_OFFLINE": "1",
            "DEBUG_TRACER_OUT": str(work / "runs"),
            "DEBUG_TRACER": "1",
            "DEBUG_TRACER_MODE": "observe",
        }
        words = [python, str(TURNS), json.dumps(asdict(wanted)), script]
        words += program.arguments.replace("{n}", str(length)).split()
        ended = subprocess.run(words, cwd=begin, env=environment, capture_output=True, text=True, timeout=1200)
        if not Path(wanted.file).exists():
            lines = [line for line in ended.stderr.splitlines() if line and not line.startswith("debug-tracer: ")]
            said = (lines or ["nothing said"])[-1]
            return {"error": f"status {ended.returncode}: {said}"[:200]}
        found: dict[str, Any] = json.loads(Path(wanted.file).read_text())
    return found | {"load": round(os.getloadavg()[0], 1)}


def table(path: Path) -> str:
    """What a kept file says, a section for each commit."""
    lines = []
    for key, result in load(path)["results"].items():
        lines += [f"{key}, {result['date']}, {result['machine']}", ""]
        lines += ["| program | bare, us | watched / bare | quartiles | interval | floor | told, us |", "|---" * 7 + "|"]
        lines += [*(row_of(name, row) for name, row in result["rows"].items()), ""]
    return "\n".join(lines)


def row_of(name: str, row: dict[str, Any]) -> str:
    """One program as a row of the table."""
    if "error" in row:
        return f"| {name} | {row['error']} | | | | | |"
    ours = row["watched"]
    spans = (f"{low:.3f} to {high:.3f}" for low, high in (ours["quartiles"], ours["interval"]))
    floor = f"{row['floor']['ratio']:.3f}" if row["floor"] else "-"
    cells = [name, f"{row['bare_us']:.0f}", f"{ours['ratio']:.3f}", *spans, floor, f"{row['own_us']:.0f}"]
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name holds one of these words, with commas")
    parser.add_argument("--seconds", type=float, default=70.0, help="of turns in each program")
    parser.add_argument("--sources", type=Path, default=Path(tempfile.gettempdir()) / "debug-tracer-programs")
    parser.add_argument("--mirror", type=Path, help="folder with OWNER+NAME/repo, where GitHub cannot be reached")
    parser.add_argument("--table", type=Path, help="only print the table of a kept file")
    args = parser.parse_args(arguments)
    if args.table:
        print(table(args.table))
        return 0
    wanted = [word for word in args.only.split(",") if word]
    chosen = [name for name in LENGTHS if not wanted or any(word in name for word in wanted)]
    args.sources.mkdir(parents=True, exist_ok=True)
    jobs = []
    for program in map(prepared, chosen):  # one after the other: two that need the same source would both clone it
        source, python = fetched(program, args.sources, args.mirror), interpreter(args.sources, program.packages)
        jobs.append((program, source, python, args.seconds))
    kept = None
    with ThreadPoolExecutor(2) as pool:
        for name, row in zip(chosen, pool.map(lambda job: measure(*job), jobs), strict=True):
            print(row_of(name, row), flush=True)
            kept = add_row(KIND, name, row)
    print(table(kept) if kept else f"{args.only}: no such program")
    return int(kept is None)


if __name__ == "__main__":
    sys.exit(main())
