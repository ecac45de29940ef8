"""Mutation testing: changes one condition, number or word of the code at a time and runs the mirrored test files, and
if they pass the other tests that look at the file (scripts/tests_of.py), one of which must then fail.

    python scripts/mutants.py [--sample 40] [--seed 0] [--only diagnosis/proof] [--json FILE]

A mutant that no test notices survives; one of scripts/equivalent_mutants.json, which gives the reason why no test can
notice it, is not run, and is counted and listed apart. What fails beyond the mirrored file is run once more alone, with
the change and without it: it counts where the change alone fails it. All of them take a night; a sample with a seed is
the same one each time. `--json benchmarks/results/DATE-mutants.json` keeps the result. Each mutant runs in a fork of a
process that has imported torch and nothing of ours, so that the changed file is the one that is imported; no file of
ours is written. Python programs that a test starts import the changed file as well (a sitecustomize on their path)."""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep
from types import ModuleType
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
from mutant import ROOT, SOURCE, Finder, Mutant
from stamp import stamp

JUDGED = ("diagnosis", "causes", "interventions", "checks", "recorder")
# seconds of CPU: what others take from the machine must not decide
LIMIT_S = 300  # that the mirrored test files may take under a mutant; one that hangs is noticed
NEAR_S = 120  # that the other test files may take together; what has not failed by then has not noticed
WAITS = 3  # times longer on the clock on the wall, for one that waits for ever


def mutants(only: str = "") -> Iterator[Mutant]:
    """Every mutant of the judged folders whose file has a mirrored test."""
    for folder in JUDGED:
        for path in sorted((SOURCE / folder).rglob("*.py")):
            file = str(path.relative_to(SOURCE))
            if only in file and path.name != "__init__.py":
                text = path.read_text()
                finder = Finder(file, text)
                finder.visit(ast.parse(text))
                yield from (one for one in finder.found if one.tests[0].exists())


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the changed text of one module to the import system."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.name = "debugtracer." + mutant.file.removesuffix(".py").replace("/", ".")

    def find_spec(self, name: str, path: object, target: object = None) -> object:
        """Find the changed module, no other."""
        place = SOURCE / self.mutant.file
        return importlib.util.spec_from_file_location(name, place, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the changed text, under the name of its file."""
        exec(compile(self.mutant.source(), str(SOURCE / self.mutant.file), "exec"), module.__dict__)


SITE = """
import importlib.abc, importlib.util, sys
class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_file_location(name, {place!r}, loader=self) if name == {name!r} else None
    def exec_module(self, module):
        exec(compile({source!r}, {place!r}, "exec"), module.__dict__)
sys.meta_path.insert(0, Changed())
"""


def put_in_place(mutant: Mutant, folder: Path) -> None:
    """The changed module for this process, and by a file in that folder for the Python programs it starts."""
    loader, place = Loader(mutant), str(SOURCE / mutant.file)
    sys.meta_path.insert(0, loader)
    (folder / "sitecustomize.py").write_text(SITE.format(name=loader.name, place=place, source=mutant.source()))
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([known] if known else [])])


class FirstFailure:
    """A plug-in of pytest that writes the name of the first test that fails."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Write it; -x ends the run there."""
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())


def failing(tests: Sequence[Path | str], mutant: Mutant | None, limit_s: float) -> str | None:
    """The first test that fails, in a fork; None where all pass, "" where they end without a name: a module that cannot
    be imported, or too long a time."""
    reads, writes = os.pipe()
    folder = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        try:
            if mutant is not None:
                put_in_place(mutant, Path(folder))
            import pytest

            code = pytest.main(
                ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *map(str, tests)], [FirstFailure(writes)]
            )
        except BaseException:
            code = 1
        os._exit(int(code) != 0)
    os.close(writes)
    status = ended(child, limit_s)
    shutil.rmtree(folder)
    os.set_blocking(reads, False)  # a program that a test left behind may still hold the other end
    try:
        first = os.read(reads, 4096).decode() if os.waitstatus_to_exitcode(status) >= 0 else ""
    except BlockingIOError:
        first = ""
    os.close(reads)
    return first if status else None


def ended(child: int, limit_s: float) -> int:
    """The status of a fork, which is killed with what it has started when its time is over: an alarm of its own could
    be taken back by a test."""
    end = monotonic() + WAITS * limit_s
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if used_s(child) > limit_s or monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]
        sleep(0.05)
    return found[1]


def used_s(process: int) -> float:
    """The CPU seconds of a process and of the programs that it has started and seen end; 0 where they are not told."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def outcome(mutant: Mutant) -> str:
    """Killed, survived, equivalent, or untested where what fails in the mirrored file fails without the change too."""
    if mutant.equivalent:
        return "equivalent"
    first = failing(mutant.tests, mutant, LIMIT_S)
    if first is not None:
        return "killed" if failing([first] if first else mutant.tests, None, LIMIT_S) is None else "untested"
    others = mutant.wider
    first = failing(others, mutant, NEAR_S) if others else None
    return "killed" if first and by_itself(first, mutant) else "survived"


def by_itself(test: str, mutant: Mutant) -> bool:
    """Whether a test fails alone with the change and passes alone without."""
    return failing([test], mutant, LIMIT_S) is not None and failing([test], None, LIMIT_S) is None


def judged(chosen: Sequence[Mutant]) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with what became of it."""
    for mutant in chosen:
        yield mutant, outcome(mutant)


def main() -> int:
    """Judge a sample and print the survivors; the status is 0 whatever survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=40, help="mutants drawn; 0: all, which takes a night")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose path holds this text")
    parser.add_argument("--json", type=Path, help="keep the result in this file")
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "src")]
    import torch  # noqa: F401 - once, for every fork

    every = list(mutants(args.only))
    chosen = random.Random(args.seed).sample(every, min(args.sample, len(every))) if args.sample else every
    counts = {"killed": 0, "survived": 0, "equivalent": 0, "untested": 0}
    left: list[dict[str, object]] = []
    for mutant, outcome in judged(chosen):
        counts[outcome] += 1
        if outcome != "killed":
            why = {"why": mutant.equivalent} if mutant.equivalent else {}
            left.append({"outcome": outcome, **asdict(mutant), "text": mutant.original} | why)
        print(f"{outcome:10} {mutant.file}:{mutant.line} {mutant.what}", flush=True)
    seen = counts["killed"] + counts["survived"]
    share = counts["survived"] / max(seen, 1)
    print(f"{counts['survived']} of {seen} judged survived ({share:.0%}); {len(every)} there are in all")
    if args.json:
        kept = {"schema": "debug-tracer.mutants/1", **stamp(), "seed": args.seed, "of": len(every), **counts}
        args.json.write_text(json.dumps(kept | {"left": left}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
