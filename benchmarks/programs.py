"""CPU time of training programs of other people, bare and under `debug-tracer run --mode observe`, and whether they
print the same.

    python benchmarks/programs.py [--only ppo,vae] [--rounds 1] [--sources FOLDER] [--mirror FOLDER] [--cost 1]
    python benchmarks/programs.py --lengths 10,30     runs that outlast the seconds every run is given
    python benchmarks/programs.py --table benchmarks/results/DATE-programs-cost.json

The programs (benchmarks/other_programs.py) are fetched into a folder outside this repository, and what they import
that we lack is installed beside them (benchmarks/program_packages.py). Each runs n and 3n steps long (or as many times
n as `--lengths` says), with one thread: start-up cancels in the difference, which is the steady part. The bare and the
watched run go at the same time, so that what else the machine does slows both. `told` is the
share of the run's time that debug-tracer itself reports, `load` that of the machine. A result is kept by commit, so
that one file shows before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stamp import ROOT

from benchmarks.by_commit import add_row, load
from benchmarks.other_programs import PROGRAMS, Program
from benchmarks.program_data import stand_ins
from benchmarks.program_packages import interpreter

KIND = "programs-cost"
LONG = "programs-long"  # with other lengths, so that no table mixes them
LENGTHS = (1, 3)
OURS = "DEBUG_TRACER"
UNCOMPILED = "PYTHONDONTWRITEBYTECODE"  # with it each run compiles torch and us again, on both sides
# a command whose CPU seconds, with those of all its children, are written to a file
TIMED = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(str(used.ru_utime + used.ru_stime))
sys.exit(status)
"""
OTHER_EACH_TIME = re.compile(
    r"(?i)\b(?:time|(?:iter_)?dt|ms/batch|mfu|SPS)\b[:= ]*-?[\d.]+(?: ?(?:ms|s|%)(?!\w))?|\(\d+\.\d+s\)"
)


@dataclass(frozen=True)
class Finished:
    """One run of a program: seconds of CPU with all its children, and what it printed."""

    cpu_s: float
    printed: list[str]
    status: int
    last_error: str
    told: float | None = None


def fetched(program: Program, sources: Path, mirror: Path | None) -> Path:
    """The folder of a program's source at its commit, cloned if it is not there; ours where it has none."""
    if not program.source:
        return ROOT
    name, commit = program.source.split("@")
    folder = sources / name.replace("/", "+")
    if not folder.exists():
        origin = mirror / name.replace("/", "+") / "repo" if mirror else f"https://github.com/{name}"
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(origin), str(folder)], check=True)
    wanted = ["--", ".", ":(exclude)*/wikitext-2/*"]  # data of 10 MB that is not read and that a mirror may lack
    subprocess.run(["git", "checkout", "-q", "-f", commit, *wanted], cwd=folder, check=True)
    return folder


def place(program: Program, source: Path, work: Path, length: int) -> tuple[Path, str]:
    """Where a program is started, with its data, and the script to start there."""
    begin, script = work / "begin", source / program.script
    if program.is_started_beside_its_script:
        shutil.copytree(script.parent, begin, ignore=shutil.ignore_patterns(".git"))
        script = begin / script.name
    else:
        begin.mkdir()
    if program.edits:
        text = script.read_text()
        for pattern, replacement in program.edits:
            text, changed = re.subn(pattern, replacement.replace("{n}", str(length)), text)
            assert changed, f"{program.name}: nothing matches {pattern}"
        script.write_text(text)
    program.make_data(begin)
    return begin, str(script)


def run(program: Program, source: Path, length: int, is_watched: bool, cost: str | None, python: str) -> Finished:
    """Run a program once, in a folder of its own."""
    with tempfile.TemporaryDirectory() as made:
        work = Path(made)
        begin, script = place(program, source, work, length)
        stubs = stand_ins(work / "stand_ins", program.shadowed)
        path = [str(stubs), str(source), str(ROOT / "src")]
        environment = {k: v for k, v in os.environ.items() if not k.startswith(OURS) and k != UNCOMPILED} | {
            "PYTHONPATH": os.pathsep.join(path),
            "OMP_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "HF_HUB_OFFLINE": "1",
            "DEBUG_TRACER_OUT": str(work / "runs"),
        }
        environment |= {"DEBUG_TRACER_COST": cost} if cost else {}
        watch = ["-m", "debugtracer", "run", "--mode", "observe", "--"] if is_watched else []
        words = [python, *watch, script, *program.arguments.replace("{n}", str(length)).split()]
        timed = [sys.executable, "-c", TIMED, str(work / "cpu_s"), *words]
        ended = subprocess.run(timed, cwd=begin, env=environment, capture_output=True, text=True, timeout=1200)
        printed = ended.stdout.splitlines()
        if program.results:
            printed += [line for path in sorted(begin.glob(program.results)) for line in path.read_text().splitlines()]
        return Finished(
            float((work / "cpu_s").read_text()),
            [OTHER_EACH_TIME.sub("", line) for line in printed],
            ended.returncode,
            (ended.stderr.strip().splitlines() or [""])[-1],
            own_share(work / "runs", environment) if is_watched else None,
        )


def own_share(runs: Path, environment: dict[str, str]) -> float | None:
    """The share of the run's time that debug-tracer says was its own; None where it says none."""
    words = [sys.executable, "-m", "debugtracer", "report", "--format", "json", str(runs)]
    said = subprocess.run(words, env=environment, capture_output=True, text=True)
    try:
        return float(json.loads(said.stdout)["overhead"]["own_time_share"])
    except (ValueError, KeyError, TypeError):
        return None


def measure(
    program: Program,
    source: Path,
    rounds: int,
    cost: str | None,
    lengths: tuple[int, ...] = LENGTHS,
    python: str = sys.executable,
) -> dict[str, Any]:
    """Both lengths, bare and watched, `rounds` times: the least CPU time of each, since noise only adds."""
    least: dict[tuple[bool, int], Finished] = {}
    for _ in range(rounds):
        for factor in lengths:
            length = factor * program.length
            with ThreadPoolExecutor(2) as pool:
                pair = pool.map(lambda watched: run(program, source, length, watched, cost, python), (False, True))  # noqa: B023
            for is_watched, done in zip((False, True), pair, strict=True):
                if done.status:
                    return {"kind": program.kind, "error": f"status {done.status}: {done.last_error}"[:200]}
                known = least.get((is_watched, factor))
                least[is_watched, factor] = min(known or done, done, key=lambda finished: finished.cpu_s)
    bare, watched = ([least[is_watched, factor] for factor in lengths] for is_watched in (False, True))
    steady = [long.cpu_s - short.cpu_s for short, long in (bare, watched)]
    return {
        "kind": program.kind,
        "n": program.length,
        "lengths": list(lengths),
        "unit": program.unit,
        "bare_cpu_s": [round(finished.cpu_s, 2) for finished in bare],
        "watched_cpu_s": [round(finished.cpu_s, 2) for finished in watched],
        "steady_ratio": round(steady[1] / steady[0], 3),
        "whole_ratio": round(watched[1].cpu_s / bare[1].cpu_s, 3),
        "told": watched[1].told,
        "same_output": all(a.printed == b.printed for a, b in zip(bare, watched, strict=True)),
        "lines": len(bare[1].printed),
        "load": round(os.getloadavg()[1], 1),
    }


def table(path: Path) -> str:
    """What a kept file says, a section for each commit."""
    lines = []
    for key, result in load(path)["results"].items():
        lines += [
            f"{key}, {result['date']}, {result['machine']}",
            "",
            "| program | steady bare, s | steady watched / bare | whole run | debug-tracer told | same output |",
            "|---|---|---|---|---|---|",
            *(row_of(name, row) for name, row in result["rows"].items()),
            "",
        ]
    return "\n".join(lines)


def row_of(name: str, row: dict[str, Any]) -> str:
    """One program as a row of the table."""
    if "error" in row:
        return f"| {name} | {row['error']} | | | | |"
    short, long = row["bare_cpu_s"]
    told = "-" if row["told"] is None else f"{row['told']:.1%}"
    same = f"yes, {row['lines']} lines" if row["same_output"] else "NO"
    ratios = f"{row['steady_ratio']:.2f} | {row['whole_ratio']:.2f}"
    return f"| {name} | {long - short:.1f} | {ratios} | {told} | {same} |"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name holds one of these words, with commas")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--sources", type=Path, default=Path(tempfile.gettempdir()) / "debug-tracer-programs")
    parser.add_argument("--mirror", type=Path, help="folder with OWNER+NAME/repo, where GitHub cannot be reached")
    parser.add_argument("--cost", help="the setting `cost` of the watched runs; its default when left out")
    parser.add_argument("--lengths", default="1,3", help="the two lengths of a run, in times n")
    parser.add_argument("--table", type=Path, help="only print the table of a kept file")
    args = parser.parse_args(arguments)
    if args.table:
        print(table(args.table))
        return 0
    wanted = [word for word in args.only.split(",") if word]
    chosen = [p for p in PROGRAMS if not wanted or any(word in p.name for word in wanted)]
    lengths = tuple(int(word) for word in args.lengths.split(","))
    kind, setting = KIND if lengths == LENGTHS else LONG, f"cost {args.cost}" if args.cost else ""
    args.sources.mkdir(parents=True, exist_ok=True)
    for program in chosen:
        source = fetched(program, args.sources, args.mirror)
        python = interpreter(args.sources, program.packages)
        row = measure(program, source, args.rounds, args.cost, lengths, python)
        print(row_of(program.name, row), flush=True)
        kept = add_row(kind, program.name, row, setting)
    print(table(kept) if chosen else f"{args.only}: no such program")
    return int(not chosen)


if __name__ == "__main__":
    sys.exit(main())
