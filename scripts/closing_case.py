"""The closing case of an article (docs/closing_case.md), from NaN to a trained network: watched, diagnosed, and trained
with what the verdict proposes.

    python scripts/closing_case.py [--write]

`faults/numerics/closing_case/train.py` runs under watch. The change of the verdict is applied to a copy of the script
by the line number it gives, and the copy is trained bare to its end. Where that is not enough (the loss is not finite,
or the accuracy does not rise) the further remedies of the same verdict are added in its order.
`--write` renews the output in docs/closing_case.md.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))  # a test loads this file by its path
from row_tables import between

from debugtracer.causes.cause import causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.trace.events import Incident
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.verdict import Change, Verdict
from debugtracer.views.view import incidents

ROOT = Path(__file__).resolve().parent.parent
CASE = ROOT / "faults" / "numerics" / "closing_case" / "train.py"
PAGE = ROOT / "docs" / "closing_case.md"
EPOCH = re.compile(r"^epoch \d+ loss (\S+) accuracy (\S+)$", re.MULTILINE)
ENV = os.environ | {"OMP_NUM_THREADS": "1"}  # another number of threads rounds other bits
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"


@dataclass(frozen=True)
class Course:
    """What one training printed, epoch by epoch."""

    losses: tuple[float, ...]
    accuracies: tuple[float, ...]

    @property
    def is_trained(self) -> bool:
        """Every loss is finite and the accuracy has risen since the first epoch."""
        return bool(self.losses) and all(map(math.isfinite, self.losses)) and self.accuracies[-1] > self.accuracies[0]

    def __str__(self) -> str:
        """First and last epoch."""
        return (
            f"loss {self.losses[0]:.4f} -> {self.losses[-1]:.4f}, accuracy {self.accuracies[0]:.3f} -> "
            f"{self.accuracies[-1]:.3f}"
        )


def trained(source: str) -> Course:
    """The program run bare to its end."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(source)
        done = subprocess.run(
            [sys.executable, script.name], cwd=folder, env=ENV, capture_output=True, text=True, check=True
        )
    told = EPOCH.findall(done.stdout)
    return Course(tuple(float(loss) for loss, _ in told), tuple(float(accuracy) for _, accuracy in told))


def diagnosed(source: str) -> Incident:
    """The incident of the program under watch, with its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(source)
        command = [sys.executable, "-m", "debugtracer", "run", "--out", "runs", "train.py"]
        subprocess.run(command, cwd=folder, env=ENV, capture_output=True, check=False)
        return incidents(open_trace(Path(folder) / "runs" / "latest"))[0]


def remedies(facts: IncidentFacts, verdict: Verdict, source: str) -> list[Change]:
    """The verdict's own change, then what its remedies say of the learning rate and of the gradient, in its order."""
    found = [verdict.change] if verdict.change is not None else []
    for text in verdict.remedy:
        if (
            "divide the learning rate by 10" in text
            and facts.optimizer is not None
            and facts.optimizer.frame is not None
        ):
            lower = causes()["lr-too-high"].change(IncidentEvidence(facts), facts.optimizer.frame, 10.0)
            found += [lower] if lower is not None else []
        if "clip_grad_norm_" in text:
            found.append(clipped(source))
    return found


def clipped(source: str) -> Change:
    """The gradient clipped where the optimizer steps."""
    line, text = next(
        (n, text.strip())
        for n, text in enumerate(source.splitlines(), 1)
        if re.fullmatch(r"\w+\.step\(\)", text.strip())
    )
    return Change(file="train.py", line=line, before=text, after=(CLIP, text))


def applied(source: str, changes: list[Change]) -> str:
    """The program with these lines changed, each at the number it names. Raises ValueError where the line there is
    another."""
    lines = source.splitlines()
    for change in sorted(changes, key=lambda change: -change.line):
        was = lines[change.line - 1]
        if was.strip() != change.before:
            raise ValueError(f"line {change.line} is {was.strip()!r}; expected {change.before!r}")
        indent = was[: len(was) - len(was.lstrip())]
        lines[change.line - 1 : change.line] = [indent + text for text in change.after]
    return "\n".join(lines) + "\n"


def told() -> tuple[list[str], Course]:
    """What happened, in lines, and the last training."""
    source = CASE.read_text()
    incident = diagnosed(source)
    verdict = incident.verdict
    assert verdict is not None  # incidents() gives only those
    course = trained(source)
    said = f"debug-tracer: {verdict.kind}, {verdict.status}, step {verdict.step}, train.py:{verdict.line}"
    lines = [f"as it is: {course}", "", said, f"  {verdict.tested}", ""]
    changes: list[Change] = []
    for change in remedies(incident.facts, verdict, source):
        changes.append(change)
        lines += [
            f"remedy {len(changes)}, train.py:{change.line}",
            f"  - {change.before}",
            *(f"  + {text}" for text in change.after),
        ]
        course = trained(applied(source, changes))
        lines += [f"trained to the end: {course}{'' if course.is_trained else ' (not cured)'}", ""]
        if course.is_trained:
            break
    return [
        *lines,
        f"{'cured' if course.is_trained else 'not cured'} after {len(changes)} of the verdict's remedies",
    ], course


def main() -> int:
    """Status 0 when the training is cured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="renew the output in docs/closing_case.md")
    args = parser.parse_args()
    lines, course = told()
    text = "\n".join(lines)
    print(text)
    if args.write:
        between(PAGE, "output", f"```\n{text}\n```")
    return 0 if course.is_trained else 1


if __name__ == "__main__":
    sys.exit(main())
