"""Runs one script under watch and marks its verdict with the scorer of the case tests, so that the two boards cannot
differ."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from stamp import UNKNOWN, stamp
from truths import Script

from debugtracer.causes.cause import causes

EXACT = {"nan_loss", "inf_grad", "nan_output"}
MUST = ("step", "op", "sline", "sample")
SURE = {"confirmed", "likely"}
FORBIDDEN = "wrong"  # the mark of a verdict that is confirmed and names another class


@dataclass
class Row:
    """What came of one script: what it is, the marks of the scorer, and what the verdict said."""

    script: str
    kind: str
    """The true class."""
    layer: str
    symptom: str
    marks: dict[str, bool]
    got: str | None = None
    status: str | None = None
    confidence: float | None = None
    suspects: list[str] = field(default_factory=list)
    trials: int = 0
    """Replays with one thing changed that ran."""
    proved: bool = False
    """A trial that proves the class of the verdict has healed the step."""
    tested: bool = False
    """The verdict shows what the failing step did with a remedy."""
    verdict_s: float = 0.0
    """From the alarm to the verdict; 0 where nothing was executed again."""
    seconds: float = 0.0
    """Wall time of the whole run."""
    note: str = ""
    wrong: list[str] = field(default_factory=list)
    also: list[str] = field(default_factory=list)
    """Classes that are as true as `kind`."""
    date: str = ""
    fired: list[str] = field(default_factory=list)
    """The checks that spoke, notes included."""
    commit: str = UNKNOWN
    """The code that was watched, when it ran."""

    @property
    def is_healthy(self) -> bool:
        """Whether silence is the right answer."""
        return self.kind == "healthy"

    def as_plain(self) -> dict[str, Any]:
        """The row as it is kept in the results."""
        return asdict(self)


def load_scorer(path: Path) -> ModuleType | None:
    """The functions score() and watch() of the scorer; None where it is missing."""
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location("score_cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def must_be_right(script: Script, marks: dict[str, bool]) -> list[str]:
    """Which marks of this script may not be wrong: silence of the healthy; the class of every fault, and never a
    confirmed verdict of another one; the place and the sample of every non-finite value."""
    if script.is_healthy:
        return ["quiet"]
    if "note" in script.truth:
        return [mark for mark in ("noted", FORBIDDEN) if mark in marks]
    if script.truth["class"] == "unknown":
        return [mark for mark in ("abstained", FORBIDDEN) if mark in marks]
    asked = ["found", "top1", FORBIDDEN]
    if script.truth["symptom"] not in EXACT:
        # which line makes a finite loss jump takes trials to know
        line = [] if script.truth["symptom"] == "loss_spike" else ["line"]
        return [mark for mark in (*asked, *line, "sample", "rank") if mark in marks]
    born_in_user_code = script.truth["op"] is not None and script.truth["layer"] != "optimizer"
    return [mark for mark in (*asked, *MUST, *(["line"] if born_in_user_code else [])) if mark in marks]


def missed(script: Script, marks: dict[str, bool]) -> list[str]:
    """The marks that must be right and are not."""
    return [mark for mark in must_be_right(script, marks) if marks[mark] == (mark == FORBIDDEN)]


def judge(script: Script, scorer: ModuleType, tool: list[str], timeout: float, keep: str | None) -> Row:
    """Run one script under watch in a folder of its own and mark the verdict."""
    stage = Path(tempfile.mkdtemp(prefix="score-")) / script.name.replace("/", "-").replace(" (healthy)", "-healthy")
    shutil.copytree(
        script.folder,
        stage,
        ignore=shutil.ignore_patterns(
            "truth.json", "README.md", "plants.toml", "healthy.py", "train.py", "__pycache__"
        ),
    )
    (stage / "train.py").write_text(script.source or (script.folder / script.file).read_text())
    report, status, note, took, work = scorer.watch(stage, tool, timeout, keep)
    shutil.rmtree(stage.parent, ignore_errors=True)
    if not keep:
        shutil.rmtree(work, ignore_errors=True)
    row = of_verdict(script, (report or {}).get("verdict") or {}, marked(script, scorer, report, status))
    row.seconds, row.note = round(took, 1), note
    row.fired = sorted({finding["check"] for finding in (report or {}).get("findings", [])})
    return row


def marked(script: Script, scorer: ModuleType, report: dict[str, Any] | None, status: int | None) -> dict[str, bool]:
    """The marks of the scorer, and ours where a remark or an abstention is the right answer."""
    marks: dict[str, bool] = scorer.score(report, script.truth, status)
    if "note" in script.truth:  # worth a remark, not an alarm: the check must speak, and no more than that
        notes = [f for f in (report or {}).get("findings", []) if f["check"] == script.truth["note"]]
        return {"noted": bool(notes) and all(f["severity"] == "note" for f in notes), "wrong": marks["wrong"]}
    return abstention(marks, (report or {}).get("verdict") or {}) if script.truth["class"] == "unknown" else marks


def abstention(marks: dict[str, bool], verdict: Mapping[str, Any]) -> dict[str, bool]:
    """The marks of a fault outside every catalogue: no class to be right about, but one not to be sure of."""
    abstained = verdict.get("class") is None or verdict.get("status") not in SURE
    return {name: good for name, good in marks.items() if name not in {"top1", "top3"}} | {"abstained": abstained}


def of_verdict(script: Script, verdict: Mapping[str, Any], marks: dict[str, bool]) -> Row:
    """The row of a script, from its verdict and the marks."""
    now = stamp()
    ran = [trial for trial in verdict.get("trials", []) if trial["outcome"] != "could not run"]
    return Row(
        script=script.name,
        kind=script.truth["class"],
        layer=script.truth["layer"],
        symptom=script.truth["symptom"],
        marks=marks,
        got=verdict.get("class"),
        status=verdict.get("status"),
        confidence=verdict.get("confidence"),
        suspects=[suspect["class"] for suspect in verdict.get("suspects", [])],
        trials=len(ran),
        proved=any(
            trial["outcome"] == "healed" and trial["intervention"].partition("=")[0] in proofs(verdict.get("cause"))
            for trial in ran
        ),
        tested=bool(verdict.get("tested")),
        verdict_s=verdict.get("seconds", 0.0),
        wrong=missed(script, marks),
        also=list(script.truth.get("also_accept", [])),
        date=now["date"],
        commit=now["commit"],
    )


def proofs(cause: str | None) -> tuple[str, ...]:
    """Interventions that prove a cause when they heal."""
    return tuple(causes()[cause].proved_by) if cause in causes() else ()


def with_settings(tool: list[str], variant: Mapping[str, str]) -> list[str]:
    """The command of the tool with settings of its own, as a baseline needs."""
    return ["env", *(f"{name}={value}" for name, value in variant.items()), *tool] if variant else tool


def told(row: Row) -> str:
    """One line for the terminal."""
    marks = " ".join(f"{name}{'+' if good else '-'}" for name, good in row.marks.items())
    flag = f"  WRONG: {', '.join(row.wrong)}" if row.wrong else ""
    verdict = (
        f"{row.got} ({row.status} {row.confidence:.2f}, {row.trials} trials, {row.verdict_s:.1f}s)"
        if row.confidence is not None
        else "-"
    )
    return f"{row.script:44} {row.kind:26} -> {verdict:26} {marks}  {row.seconds:.0f}s {row.note}{flag}"


def parallel(jobs: int) -> None:
    """Several scripts at a time get one thread each."""
    if jobs > 1:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
