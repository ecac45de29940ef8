"""Writes an incident: capsule, batch table, findings and events of its run, then the verdict on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import time as wall_time
from typing import TYPE_CHECKING, Protocol

from debugtracer.checks.check import checks
from debugtracer.diagnosis.blocking_child import raced
from debugtracer.errors import CapsuleError, StoppedByTracer, swallow
from debugtracer.recorder.output.output import Output
from debugtracer.recorder.run_state import RunState
from debugtracer.trace.birth import Birth
from debugtracer.trace.events import Acted, Found, Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import as_float, symbolic
from debugtracer.trace.store.op_table import OpRow, write_ops
from debugtracer.trace.store.schema import INCIDENTS
from debugtracer.trace.verdict import Verdict
from debugtracer.trace.window import GRAD_L2, LOSS, OUTPUT_NAN, PARAM_L2, Window

if TYPE_CHECKING:
    from debugtracer.replay.investigation import Investigation


class VerdictDisplay(Protocol):
    """Where verdicts are shown, and as what the stop of mode dev is raised there."""

    stopped: type[BaseException]

    def show(self, facts: IncidentFacts, verdict: Verdict, run: Path, incident: Path | None) -> None:
        """Show a verdict with the folders of its run and of its capsule."""


class OnStderr(VerdictDisplay):
    """The verdict as text on stderr; the stop ends the process."""

    stopped = StoppedByTracer

    def show(self, facts: IncidentFacts, verdict: Verdict, run: Path, incident: Path | None) -> None:
        # brings rich along: a run without incidents needs none
        from debugtracer.views.terminal import render_verdict

        print(render_verdict(facts, verdict, run, incident, color=sys.stderr.isatty()), file=sys.stderr, flush=True)


class IncidentWriter:
    """Writes for one process; a part that cannot be written costs no other."""

    def __init__(self, output: Output, stops: bool) -> None:
        self.output, self.stops = output, stops
        self.display: VerdictDisplay = OnStderr()
        self.told_not_saved = False

    def show_on(self, display: VerdictDisplay) -> None:
        """Show verdicts on this display from now on."""
        self.display = display

    def save(
        self,
        result: Investigation,
        facts: IncidentFacts,
        verdict: Verdict,
        recent: Mapping[str, Iterable[float]],
        count: int,
    ) -> None:
        """Write capsule, batch table, findings and events; then the verdict on stderr."""
        name = f"{INCIDENTS}/step-{facts.ref.step:06d}-rank{facts.ref.rank}"
        folder = self.output.folder / name if self.output.folder is not None else None
        if folder is not None and folder.exists():
            name, folder = f"{name}-{count}", folder.with_name(f"{folder.name}-{count}")
        capsule = folder is not None and self.attempt(lambda: self.save_program(folder, result, facts, verdict))
        if folder is not None and capsule:
            verdict = raced(verdict, folder)
        batch = folder is not None and self.attempt(lambda: save_batch(folder, result, facts))
        ops = folder is not None and result.ops is not None and self.attempt(lambda: save_ops(folder, result))
        trace_id = self.output.trace_id(facts.ref.iteration)
        for finding in findings_of(facts, recent, result.bad_names):
            self.output.event(Found(at=wall_time(), rank=facts.ref.rank, trace_id=trace_id, finding=finding))
        self.output.event(
            Incident(
                at=wall_time(),
                rank=facts.ref.rank,
                trace_id=trace_id,
                facts=facts,
                verdict=verdict,
                folder=name if capsule or batch or ops else None,
                capsule=capsule,
            ),
            now=True,
        )
        if self.stops and facts.symptom != "crash":
            self.output.event(
                Acted(
                    at=wall_time(),
                    rank=facts.ref.rank,
                    trace_id=trace_id,
                    action="stop",
                    iteration=facts.ref.iteration,
                    step=facts.ref.step,
                    reason=verdict.summary,
                ),
                now=True,
            )
        if self.output.folder is not None:
            self.display.show(facts, verdict, self.output.folder, folder if capsule else None)

    def stopped_with_others(self, state: RunState) -> None:
        """Report that this rank found nothing and ends because another one has an incident."""
        rank, iteration, step = self.output.rank, max(state.iteration - 1, 0), state.step
        reason = "another rank found a bad step: all ranks stop together"
        self.output.event(
            Acted(
                at=wall_time(),
                rank=rank,
                trace_id=self.output.trace_id(iteration),
                action="stop",
                iteration=iteration,
                step=step,
                reason=reason,
            ),
            now=True,
        )
        print(
            f"debug-tracer: step {step}, rank {rank}: {reason}; its verdict names the cause.",
            file=sys.stderr,
            flush=True,
        )

    def attempt(self, action: Callable[[], None]) -> bool:
        """Run one part of saving; a step that cannot be kept is noted, a failure of ours is counted."""
        try:
            action()
        except CapsuleError as error:
            self.output.note("no-capsule", str(error))
            return False
        except OSError as error:
            self.not_saved(error)
            return False
        except Exception as error:
            swallow("diagnosis.incident_writer", error)
            return False
        return True

    def not_saved(self, error: OSError) -> None:
        """Report, once on stderr, that an incident is shown and not kept: the disk is full, or the folder gone."""
        why = f"an incident could not be saved in {self.output.folder} ({error.strerror or error})"
        self.output.note("no-capsule", why)
        if not self.told_not_saved:
            self.told_not_saved = True
            print(
                f"debug-tracer: {why}; its verdict is shown all the same. Free space there, or choose another folder "
                "with --out.",
                file=sys.stderr,
                flush=True,
            )

    def save_program(self, folder: Path, result: Investigation, facts: IncidentFacts, verdict: Verdict) -> None:
        """Write the capsule, when the step was traced whole. Raises CapsuleError."""
        if result.program is None:
            raise CapsuleError(f"{facts.ref} cannot be kept as a capsule: it was not traced from its tape")
        from debugtracer.recorder.capsule.capsule import save_capsule

        rows = result.guilty.rows if result.guilty is not None else None
        extra = {"batch_rows": rows} if rows is not None else None
        save_capsule(folder, result.program, facts, verdict, extra, self.output.trace_id(facts.ref.iteration))


def save_batch(folder: Path, result: Investigation, facts: IncidentFacts) -> None:
    """Write batch.json: guilty rows beside the first five."""
    guilty = result.guilty
    if guilty is None:
        return
    from debugtracer.recorder.capsule.batch_table import batch_table, table_of

    rows = facts.batch_rows or ()
    table = (
        batch_table(guilty.batch, rows)
        if guilty.batch is not None
        else table_of(guilty.leaves, guilty.rows or 0, guilty_rows=rows)
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "batch.json").write_text(json.dumps(table, default=symbolic))


def save_ops(folder: Path, result: Investigation) -> None:
    """Write ops.parquet: what the traced replay saw of each op."""
    if result.ops is None or not result.ops.rows:
        return
    write_ops(folder, result.ops.rows, result.ops.seen, born_at(result.ops.rows, result.birth))


def born_at(rows: list[OpRow], birth: Birth | None) -> int | None:
    """The index of the op where a value was born: the first of its line with the same bad counts."""
    if birth is None or birth.output is None or birth.op is None:
        return None
    frame, out = birth.frame, birth.output
    line = (frame.file, frame.line) if frame is not None else (None, None)
    counts = (out.nan, out.posinf + out.neginf)
    alike = [
        row
        for row in rows
        if (row.direction, row.module, (row.file, row.line)) == (birth.direction, birth.module, line)
        and row.nan + row.inf
    ]
    exact = [row for row in alike if (row.nan, row.inf) == counts and row.shape == out.shape]
    return next((row.index for row in (exact or alike)), None)


def findings_of(facts: IncidentFacts, recent: Mapping[str, Iterable[float]], bad: Iterable[str]) -> list[Finding]:
    """What the checks find in the numbers of the alarm."""
    series = {name: tuple(values) for name, values in recent.items()}
    fresh = {LOSS: facts.loss, GRAD_L2: facts.grad_l2 if facts.symptom == "inf_grad" else None}
    if facts.symptom == "bad_update":
        fresh[PARAM_L2] = "NaN"
    if facts.symptom == "nan_output":
        fresh = {OUTPUT_NAN: 1.0}
    now = {name: as_float(value) for name, value in fresh.items() if value is not None}
    for name, value in now.items():
        series[name] = (*series.get(name, ()), value)
    window = Window(facts.ref, series, frozenset(now), frozenset(), tuple(bad))
    return [
        finding
        for check in checks().values()
        if not window.fresh.isdisjoint(check.needs)
        for finding in check.judge(window)
    ]
