"""Ten verdicts on programs of other people, as an earlier commit told them and as they are told now.

    python scripts/side_by_side.py --programs DIR --before COMMIT [--only p03,p04] [--python p08=PYTHON]
    python scripts/side_by_side.py --write        the page from the kept result

DIR holds one folder for each program with `truth.json` (what is wrong, its lines, the command) and `faulty/`; none of
it is committed, and of the programs nothing but the one line that a verdict quotes goes into the page. The sources of
COMMIT are taken with `git archive`, so that both run with the same Python and the same torch."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "verdicts-side-by-side.md"
KEPT = "side-by-side"
LIMIT_S = 400
TEN = ("p02", "p03", "p04", "p05", "p06", "p08", "p09", "p10", "p12", "p14")
HEAD = """# Ten verdicts side by side

Ten faults put into programs of other people, as two versions of debug-tracer tell them. The programs were written by
one who had not read the rules, and they were held out until {seen}; the lines were mended with these very programs in
view, so the right-hand side is no measurement on unseen programs ([results](results.md#fresh-faults) has that one).

{lines}
Made by `python scripts/side_by_side.py`; before is {before}, now is {now} ({date}).

"""


def told(source: Path, program: Path, python: str, out: Path) -> dict[str, Any]:
    """Run one faulty program under the sources of one version; what its report says."""
    truth = json.loads((program / "truth.json").read_text())
    words = shlex.split(truth["command"])
    words = words[1:] if words[0].startswith("python") else words
    env = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [python, "-m", "debugtracer", "run", "--out", str(out), *words]
    subprocess.run(
        command, cwd=program / truth["cwd_faulty"], env=env, capture_output=True, timeout=LIMIT_S, check=False
    )
    report = [python, "-m", "debugtracer", "report", str(out / "latest"), "--format", "json"]
    said = subprocess.run(report, env=env, capture_output=True, text=True, check=False)
    verdict = json.loads(said.stdout)["verdict"] if said.stdout else None
    return shown(verdict, program / truth["cwd_faulty"])


def shown(verdict: dict[str, Any] | None, folder: Path) -> dict[str, Any]:
    """The parts of a verdict that the page shows; the line of source it names, and no other."""
    if verdict is None:
        return {"summary": "nothing"}
    file, line = verdict["file"], verdict["line"]
    code = ""
    if file and line and (folder / file).is_file():
        code = (folder / file).read_text(errors="replace").splitlines()[line - 1].strip()
    kept = {name: verdict[name] for name in ("class", "status", "line", "summary")}
    return {**kept, "file": Path(file).name if file else None, "code": code}


def measure(programs: Path, before: str, only: tuple[str, ...], pythons: dict[str, str]) -> dict[str, Any]:
    """Run each program twice and keep the result."""
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "before"
        packed = subprocess.run(["git", "archive", before, "src"], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(old, filter="data")
        rows = []
        for name in only:
            truth = json.loads((programs / name / "truth.json").read_text())
            python = pythons.get(name, sys.executable)
            row = {"id": name, "program": truth["program"].split(" (")[0], "wrong": truth["mechanism"]}
            row |= {"file": Path(truth["file"]).name, "lines": truth["lines"]}
            row["before"] = told(old / "src", programs / name, python, Path(folder) / f"{name}-before")
            row["now"] = told(ROOT / "src", programs / name, python, Path(folder) / f"{name}-now")
            rows.append(row)
            print(name, row["before"].get("line"), "->", row["now"].get("line"), "of", row["lines"], flush=True)
    return {"date": str(datetime.date.today()), "before": before, "commit": commit(), "rows": rows}


def commit() -> str:
    """The commit that is checked out, shortened."""
    return subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def at_fault(row: dict[str, Any], side: str) -> bool:
    """Whether that side names a line of the fault."""
    return row[side].get("file") == row["file"] and row[side].get("line") in row["lines"]


def page(kept: dict[str, Any]) -> str:
    """The page of a kept result."""
    rows = kept["rows"]
    right = {side: sum(at_fault(row, side) for row in rows) for side in ("before", "now")}
    lines = f"The line of the fault was named in {right['before']} of {len(rows)} before and in {right['now']} now."
    text = HEAD.format(seen=kept["date"], lines=lines, before=kept["before"], now=kept["commit"], date=kept["date"])
    return text + "\n".join(section(row) for row in rows)


def section(row: dict[str, Any]) -> str:
    """One program: what is wrong with it, then both verdicts."""
    where = f"{row['file']}:{', '.join(map(str, row['lines']))}"
    return (
        f"## {row['program']}: {row['wrong']}\n\nThe fault is at {where}.\n\n"
        "| | class | line | what is said |\n|---|---|---|---|\n"
        f"{cells('before', row['before'])}\n{cells('now', row['now'])}\n"
    )


def cells(side: str, said: dict[str, Any]) -> str:
    """One verdict as a row of a table."""
    named = f"{said['class']}, {said['status']}" if said.get("class") else said.get("status", "none")
    code = said.get("code", "").replace("|", "\\|").replace("`", "'")
    line = f"{said['file']}:{said['line']} `{code}`" if said.get("file") else "none"
    return f"| {side} | {named} | {line} | {said['summary'].replace('|', chr(92) + '|')} |"


def newest() -> dict[str, Any]:
    """The newest kept result."""
    found = sorted((ROOT / "benchmarks" / "results").glob(f"*-{KEPT}.json"))
    kept: dict[str, Any] = json.loads(found[-1].read_text())
    return kept


def main(arguments: list[str]) -> int:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path)
    parser.add_argument("--before", default="13bde57")
    parser.add_argument("--only", default=",".join(TEN))
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    if options.programs is not None:
        pythons = dict(one.split("=", 1) for one in options.python)
        kept = measure(options.programs, options.before, tuple(options.only.split(",")), pythons)
        target = ROOT / "benchmarks" / "results" / f"{kept['date']}-{KEPT}.json"
        target.write_text(json.dumps(kept, indent=1) + "\n")
    PAGE.write_text(page(newest()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
