"""The scoreboard: watches planted faults with their healthy twins, the cases of ../shared and the plants of faults/programs; compares verdicts with the truth.

    python scripts/score.py [--faults | --cases | --programs] [--only NAME,NAME] [--jobs 2] [--check] [--tool COMMAND]
    python scripts/score.py --list        the table of faults/README.md, from the truth files alone

It judges with the functions of ../shared/tools/score_cases.py, so the two boards cannot differ. Without that file it says so in one line and ends with status 0
(status 1 under CI=true). A whole run writes benchmarks/results/DATE-score.json and the table between the score marks of README.md.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))  # a test loads this file by its path
from plants import plants, programs  # noqa: E402

SHARED = Path(os.environ.get("DEBUG_TRACER_SHARED", ROOT.parent / "shared"))
SCORER, FAULTS, CASES = SHARED / "tools" / "score_cases.py", ROOT / "faults", SHARED / "cases"
EXACT = {"nan_loss", "inf_grad", "nan_output"}
MUST = ("step", "op", "sline", "sample")
SHOWN = ("step", "op", "sline", "line", "sample", "rows", "module")
HEALTHY: dict[str, Any] = {"class": "healthy", "layer": "none", "symptom": "none", "first_bad_step": None, "op": None, "line": None, "sample_index": None}

NAMES = {"Planted faults": "Planted faults", "Cases": "Real failures (`../shared/cases`)", "Programs": "Faults in whole programs (`faults/programs`)"}


@dataclass(frozen=True)
class Script:
    """One program to watch: where it lies, which file of the folder is the program, and what the verdict must be."""

    name: str
    folder: Path
    file: str
    truth: dict[str, Any]
    source: str | None = None
    """The text of the program where it is made, else None: `file` as it stands."""

    @property
    def is_healthy(self) -> bool:
        """Whether silence is the right answer."""
        return bool(self.truth["class"] == "healthy")


@dataclass
class Row:
    """What came of one script: the marks of the scorer and the headline of the verdict."""

    script: Script
    marks: dict[str, bool]
    got: str | None
    status: str | None
    seconds: float
    note: str
    wrong: list[str] = field(default_factory=list)


def planted(faults: Path = FAULTS) -> Iterator[Script]:
    """Every planted fault, and after it its healthy twin."""
    for truth_file in sorted(faults.glob("*/*/truth.json")):
        folder = truth_file.parent
        name = f"{folder.parent.name}/{folder.name}"
        yield Script(name, folder, "train.py", json.loads(truth_file.read_text()))
        yield Script(f"{name} (healthy)", folder, "healthy.py", HEALTHY)


def cases(folder: Path = CASES) -> Iterator[Script]:
    """Every case of ../shared/cases; none where that folder is missing."""
    for truth_file in sorted(folder.glob("*/truth.json")):
        yield Script(truth_file.parent.name, truth_file.parent, "train.py", json.loads(truth_file.read_text()))


def whole_programs() -> Iterator[Script]:
    """Every plant of every program of faults/programs, and after them the program itself, on which silence is the right answer."""
    for folder in programs():
        for plant in plants(folder):
            yield Script(plant.name, folder, "train.py", plant.truth(), plant.source())
        yield Script(f"{folder.name} (healthy)", folder, "train.py", HEALTHY)


def load_scorer() -> ModuleType | None:
    """The functions score() and watch() of the shared scorer; None where it is missing."""
    if not SCORER.exists():
        return None
    spec = importlib.util.spec_from_file_location("score_cases", SCORER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def must_be_right(script: Script, marks: dict[str, bool]) -> list[str]:
    """Which marks of this script may not be wrong: silence of the healthy, the place and the sample of every non-finite value."""
    if script.is_healthy:
        return ["quiet"]
    if "note" in script.truth:
        return ["noted"]
    if script.truth["class"] == "unknown":
        return ["abstained"]
    if script.truth["symptom"] not in EXACT:
        line = [] if script.truth["symptom"] == "loss_spike" else ["line"]  # which line makes a finite loss jump takes trials to know
        return [mark for mark in ("found", "top1", *line, "sample", "rank") if mark in marks]
    born_in_user_code = script.truth["op"] is not None and script.truth["layer"] != "optimizer"
    return [mark for mark in (*MUST, *(["line"] if born_in_user_code else [])) if mark in marks]


def judge(script: Script, scorer: ModuleType, tool: list[str], timeout: float, keep: str | None) -> Row:
    """Run one script under watch in a folder of its own and mark the verdict."""
    stage = Path(tempfile.mkdtemp(prefix="score-")) / script.name.replace("/", "-").replace(" (healthy)", "-healthy")
    shutil.copytree(script.folder, stage, ignore=shutil.ignore_patterns("truth.json", "README.md", "plants.toml", "healthy.py", "train.py", "__pycache__"))
    (stage / "train.py").write_text(script.source or (script.folder / script.file).read_text())
    report, status, note, took, work = scorer.watch(stage, tool, timeout, keep)
    marks = scorer.score(report, script.truth, status)
    if "note" in script.truth:  # worth a remark, not an alarm: the check must speak, and no more than that
        notes = [f for f in (report or {}).get("findings", []) if f["check"] == script.truth["note"]]
        marks = {"noted": bool(notes) and all(f["severity"] == "note" for f in notes), "wrong": marks["wrong"]}
    verdict = (report or {}).get("verdict") or {}
    if script.truth["class"] == "unknown":
        marks = abstention(marks, verdict)
    shutil.rmtree(stage.parent, ignore_errors=True)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)
    return Row(script, marks, verdict.get("class"), verdict.get("status"), round(took, 1), note, [m for m in must_be_right(script, marks) if not marks[m]])


def abstention(marks: dict[str, bool], verdict: dict[str, Any]) -> dict[str, bool]:
    """The marks of a fault outside every catalogue: no class to be right about, but one not to be sure of."""
    abstained = verdict.get("class") is None or verdict.get("status") not in {"confirmed", "likely"}
    return {name: good for name, good in marks.items() if name not in {"top1", "top3"}} | {"abstained": abstained}


def told(row: Row) -> str:
    """One line for the terminal."""
    marks = " ".join(f"{name}{'+' if good else '-'}" for name, good in row.marks.items())
    flag = f"  WRONG: {', '.join(row.wrong)}" if row.wrong else ""
    return f"{row.script.name:44} {row.script.truth['class']:26} -> {row.got!s:26} {marks}  {row.seconds:.0f}s {row.note}{flag}"


def mark(row: Row, name: str) -> str:
    """Yes, no, or a dash where the truth names nothing."""
    return "-" if name not in row.marks else "yes" if row.marks[name] else "**no**"


def table(rows: list[Row]) -> list[str]:
    """One line for each script with a fault."""
    lines = [f"| script | symptom | class | {' | '.join(SHOWN)} |", "|---" * (len(SHOWN) + 3) + "|"]
    for row in sorted((r for r in rows if not r.script.is_healthy), key=lambda r: (r.script.truth["symptom"], r.script.name)):
        right = "right" if row.marks.get("top1") or row.marks.get("abstained") else str(row.got)
        lines.append(f"| {row.script.name} | {row.script.truth['symptom']} | {right} | {' | '.join(mark(row, name) for name in SHOWN)} |")
    return lines


def layers(rows: list[Row]) -> list[str]:
    """One line for each of the seven layers: how many faults, and how many marks of each kind are right."""
    shown = ("found", "top1", "top3", *SHOWN, "noted", "abstained")
    lines = [f"| layer | faults | {' | '.join(shown)} |", "|---" * (len(shown) + 2) + "|"]
    for layer in sorted({row.script.truth["layer"] for row in rows if not row.script.is_healthy}):
        own = [row for row in rows if not row.script.is_healthy and row.script.truth["layer"] == layer]
        lines.append(f"| {layer} | {len(own)} | {' | '.join(share(own, name) for name in shown)} |")
    return lines


def share(rows: list[Row], name: str) -> str:
    """`8/8`, or a dash where no truth names it."""
    of = sum(name in row.marks for row in rows)
    return f"{sum(row.marks[name] for row in rows if name in row.marks)}/{of}" if of else "-"


def counted(rows: list[Row]) -> str:
    """How many marks of each kind are right."""
    faulty = [row for row in rows if not row.script.is_healthy]
    parts = [f"{name} {share(faulty, name)}" for name in ("found", "top1", "top3", *SHOWN, "noted", "abstained")]
    healthy = [row for row in rows if row.script.is_healthy]
    wrong = sum(row.marks["wrong"] for row in faulty if "wrong" in row.marks)
    return "; ".join([*parts, f"confirmed but wrong {wrong}/{len(faulty)}", f"healthy quiet {sum(row.marks['quiet'] for row in healthy)}/{len(healthy)}"])


def board(groups: dict[str, list[Row]], date: str) -> str:
    """The section of README.md: planted faults by layer, cases one by one, the silent healthy ones."""
    lines = [
        f"Measured {date} with `just score` (CPU, dev mode). found: something was said; top1, top3: the class of the fault is the verdict, or among the "
        "first three; step, op, line, sample, rows, module: the verdict names the true one; sline: that line or the one where the symptom shows; "
        "noted: faults that deserve a remark and no alarm; abstained: no class, or an unsure one, where no class describes the fault; `-`: the truth names "
        "nothing there."
    ]
    for title, rows in groups.items():
        if not rows:
            continue
        loud = [row.script.name for row in rows if row.script.is_healthy and not row.marks["quiet"]]
        healthy = sum(row.script.is_healthy for row in rows)
        loudly = f"; not: {', '.join(loud)}" if loud else ""
        each = ["", "<details><summary>case by case</summary>", "", *table(rows), "", "</details>"] if title != "Planted faults" else []
        lines += ["", f"**{NAMES[title]}**: {counted(rows)}.", "", *layers(rows), *each, "", f"Healthy: {healthy - len(loud)} of {healthy} silent{loudly}."]
    return "\n".join(lines)


def between(path: Path, name: str, text: str) -> bool:
    """Replace what stands between the marks NAME:begin and NAME:end of a file; False if it has none."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    old = path.read_text() if path.exists() else ""
    if begin not in old or end not in old:
        return False
    path.write_text(old[: old.index(begin) + len(begin)] + "\n" + text + "\n" + old[old.index(end) :])
    return True


def catalogue() -> str:
    """The table of faults/README.md: what is planted and what the verdict must say."""
    lines = ["| fault | symptom | class | iteration | op | line | sample | what happens |", "|---|---|---|---|---|---|---|---|"]
    for script in planted():
        if script.is_healthy:
            continue
        t = script.truth
        samples = ", ".join(map(str, t["sample_index"] or ["-"]))
        cells = [script.name, t["symptom"], t["class"], t["first_bad_step"], t["op"] or "-", t["line"], samples, t["cause"]]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def written(groups: dict[str, list[Row]]) -> None:
    """Keep the dated result and put the table in the README."""
    date = datetime.date.today().isoformat()
    rows = [
        {
            "group": title,
            "script": r.script.name,
            "class": r.script.truth["class"],
            "symptom": r.script.truth["symptom"],
            "got": r.got,
            "status": r.status,
            "seconds": r.seconds,
            "note": r.note,
            "wrong": r.wrong,
            **r.marks,
        }
        for title, part in groups.items()
        for r in part
    ]
    result = ROOT / "benchmarks" / "results" / f"{date}-score.json"
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps({"date": date, "rows": rows, "summary": {title: counted(part) for title, part in groups.items()}}, indent=1) + "\n")
    put = between(ROOT / "README.md", "score", board(groups, date))
    print(f"wrote {result.relative_to(ROOT)}{'' if put else '; README.md has no score marks, table not written'}")


def arguments() -> argparse.Namespace:
    """The words after the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--faults", action="store_true", help="only the planted faults and their twins")
    which.add_argument("--cases", action="store_true", help="only ../shared/cases")
    which.add_argument("--programs", action="store_true", help="only the plants of faults/programs and the programs themselves")
    parser.add_argument("--only", default="", help="names, ends of names, programs or layers, separated by commas; nothing is written then")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="status 1 if a mark that must be right is wrong")
    parser.add_argument("--tool", help="the command to score (default: debug-tracer beside this Python)")
    parser.add_argument("--timeout", type=float, default=400.0, help="seconds per script")
    parser.add_argument("--keep", help="keep the runs under this folder")
    parser.add_argument("--list", action="store_true", help="rewrite the table of faults/README.md and end")
    return parser.parse_args()


def command(given: str | None) -> list[str]:
    """The tool as absolute words: what was given, the installed command, or python -m debugtracer."""
    beside = Path(sys.executable).with_name("debug-tracer")
    words = shlex.split(given) if given else [str(beside)] if beside.exists() else [sys.executable, "-m", "debugtracer"]
    return [os.path.abspath(shutil.which(words[0]) or words[0]), *words[1:]]


def chosen(args: argparse.Namespace) -> dict[str, list[Script]]:
    """The scripts to run by group, in order."""
    wanted = [name for name in args.only.split(",") if name]
    one = args.faults or args.cases or args.programs
    groups = {
        "Planted faults": list(planted()) if args.faults or not one else [],
        "Cases": list(cases()) if args.cases or not one else [],
        "Programs": list(whole_programs()) if args.programs or not one else [],
    }
    return {title: [s for s in scripts if not wanted or is_wanted(s.name, wanted)] for title, scripts in groups.items()}


def is_wanted(name: str, wanted: list[str]) -> bool:
    """Whether a name, or the end of one, or the folder before its slash was asked for."""
    plain = name.removesuffix(" (healthy)")
    return plain.endswith(tuple(wanted)) or plain.partition("/")[0] in wanted


def scored(scripts: list[Script], scorer: ModuleType, args: argparse.Namespace) -> list[Row]:
    """Run the scripts, some at a time, and print each row as it comes."""
    rows = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda script: judge(script, scorer, command(args.tool), args.timeout, args.keep), scripts):
            print(told(row), flush=True)
            rows.append(row)
    return rows


def main() -> int:
    """Run what was asked for; the status is 1 only under --check, or when the scorer is missing under CI=true."""
    args = arguments()
    if args.list:
        between(FAULTS / "README.md", "faults", catalogue())
        print(catalogue())
        return 0
    scorer = load_scorer()
    if scorer is None:
        print(f"nothing scored: {SCORER} is missing (it comes with the shared folder of the project)")
        return int(os.environ.get("CI", "") == "true")
    if args.jobs > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    if args.keep:
        Path(args.keep).mkdir(parents=True, exist_ok=True)
    groups = {title: scored(scripts, scorer, args) for title, scripts in chosen(args).items()}
    rows = [row for part in groups.values() for row in part]
    for title, part in groups.items():
        if part:
            print(f"{title}: {counted(part)}")
    if not args.only and not args.faults and not args.cases and not args.programs:
        written(groups)
    wrong = [row for row in rows if row.wrong]
    print(f"{len(wrong)} of {len(rows)} scripts have a mark wrong that must be right" + (": " + ", ".join(row.script.name for row in wrong) if wrong else ""))
    return int(bool(args.check and wrong))


if __name__ == "__main__":
    sys.exit(main())
