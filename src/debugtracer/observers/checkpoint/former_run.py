"""Finds the run that saved the weights which this one has loaded, and the losses it recorded around the save. In a
thread of ours, once a load."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugtracer.errors import DebugTracerError, swallow
from debugtracer.recorder.output.claim import current_rank
from debugtracer.recorder.output.run_folder import RUN_DIR
from debugtracer.trace.facts.checkpoint import CheckpointMark
from debugtracer.trace.facts.fact import from_plain
from debugtracer.trace.facts.former_run import FormerRun
from debugtracer.trace.number import as_float
from debugtracer.trace.step import StepRef
from debugtracer.trace.store.journal import read_facts
from debugtracer.trace.store.manifest import read_manifest
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.store.schema import EVENTS, MANIFEST, rank_folder
from debugtracer.trace.window import LOSS

MOST_RUNS = 8  # runs looked at, newest first (ours)
MOST_BYTES = 64 << 20  # largest events.jsonl that is read (ours)
AROUND = 16  # steps before and after the save (ours)
CLOSE = 1e-9  # relative difference of two sums of the same numbers: another device adds in another order (ours)
PATIENCE_S = 5.0  # seconds that the end of a run waits (ours)


class FormerRunSearch:
    """One search; the training thread starts it and asks for the result when the thread is done."""

    def __init__(self, mark: tuple[int, float], start: int, iteration: int) -> None:
        self.mark, self.start, self.iteration = mark, start, iteration
        self.rank = current_rank()[0]
        self.found: FormerRun | None = None
        self.thread = threading.Thread(target=self.work, name="debug-tracer-former-run", daemon=True)
        self.thread.start()

    def work(self) -> None:
        """Search in a thread; a failure only costs the answer."""
        try:
            own = os.environ.get(RUN_DIR)
            self.found = self.find(Path(own)) if own else None
        except Exception as error:
            swallow("observers.checkpoint.former_run", error)

    def find(self, own: Path) -> FormerRun | None:
        """The newest run beside this one that saved these weights."""
        for run in beside(own):
            try:
                trace = Trace(run)
                rank = self.rank if self.rank in trace.ranks else 0
                saved = next(self.marks(trace, rank), None)
                if saved is not None:
                    return self.fact(trace, rank, saved, own)
            except (DebugTracerError, OSError):
                continue  # damaged, or gone meanwhile
        return None

    def marks(self, trace: Trace, rank: int) -> Iterator[CheckpointMark]:
        """Yield the saves of a run with this mark, newest first."""
        folder = rank_folder(trace.path, rank)
        if not (folder / EVENTS).exists() or (folder / EVENTS).stat().st_size > MOST_BYTES:
            return
        for event in reversed(list(read_facts(folder, CheckpointMark.word()))):
            fact = from_plain(event.word, event.fact)
            if (
                isinstance(fact, CheckpointMark)
                and fact.tensors == self.mark[0]
                and math.isclose(as_float(fact.total), self.mark[1], rel_tol=CLOSE)
            ):
                yield fact

    def fact(self, trace: Trace, rank: int, saved: CheckpointMark, own: Path) -> FormerRun:
        """Build the fact, with the losses around the save."""
        steps, values = trace.series(LOSS, rank, saved.ref.step - AROUND, saved.ref.step + AROUND)
        return FormerRun(
            ref=StepRef(iteration=self.iteration, step=self.start, phase="update"),
            run=trace.path.name,
            step=saved.ref.step,
            start=self.start,
            losses=tuple(
                (step, float(value)) for step, value in zip(steps, values, strict=True) if math.isfinite(value)
            ),
            same_program=program(trace.path) == program(own),
            plain=saved.plain,
        )

    def result(self) -> FormerRun | None:
        """What was found, when the thread is done in time."""
        self.thread.join(PATIENCE_S)
        return self.found


def beside(own: Path) -> Sequence[Path]:
    """The other run folders of the same folder, newest first."""
    runs = [
        (made.stat().st_mtime, made.parent)
        for made in own.parent.glob(f"*/{MANIFEST}")
        if made.parent.name != own.name and not made.parent.is_symlink()
    ]
    return [run for _, run in sorted(runs, reverse=True)][:MOST_RUNS]


def program(run: Path) -> tuple[str, str]:
    """Return folder and script of a run. Raises TraceError."""
    manifest = read_manifest(run)
    return manifest.cwd, next(
        (word for word in manifest.command if word.endswith(".py")), " ".join(manifest.command[:3])
    )
