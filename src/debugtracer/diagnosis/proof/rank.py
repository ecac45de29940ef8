"""Facts in, verdict out: asks every cause for its evidence and fills the verdict.

What its fields mean: (docs/rationale/contracts.md#fields)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from debugtracer.causes.cause import Cause, Evidence, causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.pipeline_evidence import of_pipeline
from debugtracer.causes.setting_evidence import of_setting
from debugtracer.errors import guarded
from debugtracer.trace.birth import Frame
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.file_line import file_line
from debugtracer.trace.incident import RESTED, SYMPTOMS, IncidentFacts, WeightWrite
from debugtracer.trace.step import Phase
from debugtracer.trace.verdict import POSSIBLE, SUSPECTS, Status, Suspect, Verdict, word
from debugtracer.views.words.wording import some


@dataclass(frozen=True)
class Ranked:
    """One cause with its evidence."""

    cause: Cause
    evidence: Evidence

    @property
    def status(self) -> Status:
        """Return confirmed for an exact invariant only; trials are not run here."""
        return "confirmed" if self.evidence.exact else word(self.evidence.confidence)


def rank(facts: IncidentFacts) -> Verdict:
    """The verdict on one incident. Pure: no IO, no torch, no host sync."""
    ranked = suspects(facts)
    best = ranked[0] if ranked and ranked[0].evidence.confidence >= POSSIBLE else None
    return explained(facts, best, ranked[1:]) if best else unexplained(facts, ranked)


def suspects(facts: IncidentFacts) -> list[Ranked]:
    """Return the causes that the facts speak for, likeliest first; of one class only the likeliest."""
    seen = IncidentEvidence(facts)
    answers = [
        (cause, of_pipeline(cause, facts) or guarded(f"cause {cause.slug}")(cause.evidence_from_incident)(seen))
        for cause in causes().values()
    ]  # one that a team brought may fail alone
    told = [(cause, of_setting(cause.kind, facts, evidence)) for cause, evidence in answers]
    ranked = [Ranked(cause, evidence) for cause, evidence in told if evidence is not None]
    if any(not r.cause.fallback and r.evidence.confidence >= POSSIBLE for r in ranked):
        ranked = [r for r in ranked if not r.cause.fallback]
    ranked.sort(key=lambda r: (-r.evidence.confidence, r.cause.slug))
    return list({r.cause.kind: r for r in reversed(ranked)}.values())[::-1]


def explained(facts: IncidentFacts, best: Ranked, others: list[Ranked]) -> Verdict:
    """A verdict with a class."""
    known = whereabouts(facts)
    line, symptom = lines(facts, best.cause)
    place = best.evidence.place
    if place is not None:
        known, line = msgspec.structs.replace(known, module=place.module, param=place.param), place.frame or line
    rows, samples = guilty(facts, best.evidence)
    return msgspec.structs.replace(
        known,
        kind=best.cause.kind,
        cause=best.cause.slug,
        layer=best.cause.layer,
        file=line.file if line else None,
        line=line.line if line else None,
        symptom_line=symptom.line if symptom else None,
        batch_rows=rows,
        sample_index=samples,
        whole_index=facts.loader.in_whole(samples) if facts.loader is not None else None,
        status=best.status,
        confidence=calibrated(best.status, False, best.evidence.confidence, best.cause.kind),
        summary=sentence(facts, best.evidence.because, line, samples, rows),
        remedy=remedies(facts, best),
        suspects=tuple(map(suspect, others[:SUSPECTS])),
    )


def remedies(facts: IncidentFacts, best: Ranked) -> tuple[str, ...]:
    """What to do; of an op inside a library first what the user's line hands to it."""
    birth = facts.birth
    inside, own = (birth.library, birth.frame) if birth is not None else (None, None)
    if inside is None or own is None or inside == own or best.cause.edit != "operator":
        return best.evidence.remedies
    keep = (
        f"change what {file_line(own)} hands over: the op runs in {package(inside.file)} "
        f"({file_line(inside)}), which is not yours to edit"
    )
    return keep, *best.evidence.remedies


def package(file: str) -> str:
    """Name the installed package a file belongs to; its folder where it is in none."""
    parts = Path(file).parts
    below = [i for i, part in enumerate(parts) if part in ("site-packages", "dist-packages")]
    name = parts[below[-1] + 1] if below and below[-1] + 1 < len(parts) else Path(file).parent.name
    return name.removesuffix(".py")


def unexplained(facts: IncidentFacts, ranked: list[Ranked]) -> Verdict:
    """A verdict that says what is known and that the cause is not."""
    return msgspec.structs.replace(
        whereabouts(facts),
        summary=f"{facts.ref}: {SYMPTOMS[facts.symptom]}; {why_unknown(facts)}",
        remedy=next_steps(facts),
        suspects=tuple(map(suspect, ranked[:SUSPECTS])),
    )


def whereabouts(facts: IncidentFacts) -> Verdict:
    """What is known before any judgement: place in the run, birth, line, rows. A bad input has no op."""
    ref, birth = facts.ref, facts.birth
    op = birth if birth is not None and birth.kind != "input" else None
    frame = (birth.frame if birth else None) or facts.symptom_frame
    symptom = facts.symptom_frame or frame
    rows, samples = guilty(facts, None)
    return Verdict(
        kind=None,
        cause=None,
        symptom=facts.symptom,
        layer="numerics",
        iteration=ref.iteration,
        step=ref.step,
        microbatch=ref.microbatch,
        rank=ref.rank,
        phase=phase(facts),
        module=op.module if op else None,
        op=op.op if op else None,
        direction=birth.direction if birth else None,
        backward_op=op.backward_op if op else None,
        birth_kind=birth.kind if birth else None,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        symptom_line=symptom.line if symptom else None,
        chain=birth.chain if birth else (),
        param=facts.bad_params[0] if facts.bad_params else None,
        batch_rows=rows,
        sample_index=samples,
        whole_index=facts.loader.in_whole(samples) if facts.loader is not None else None,
        pipeline=facts.pipeline,
    )


def phase(facts: IncidentFacts) -> Phase:
    """Where in the step the bad value was born: outside every module means in the loss."""
    birth = facts.birth
    if birth is None:
        return facts.ref.phase
    if birth.direction == "input":
        return "load" if (birth.input_name or "").startswith("batch") else "forward"
    if birth.direction == "backward":
        return "backward"
    if birth.direction == "update":
        return "update"
    return "loss" if birth.module is None else "forward"


def lines(facts: IncidentFacts, cause: Cause) -> tuple[Frame | None, Frame | None]:
    """Return (line where a person edits, line where it showed)."""
    born = facts.birth.frame if facts.birth else None
    symptom = facts.symptom_frame or born
    built = facts.optimizer.frame if facts.optimizer else None
    if facts.birth is not None and facts.birth.direction == "update":
        own = born if born != facts.symptom_frame else None  # a step() that the user wrote
        return (own if own is not None and cause.edit == "operator" else built) or symptom, symptom
    if cause.edit == "optimizer":
        return built or born or symptom, symptom
    if cause.edit == "data" and facts.birth is not None and facts.birth.kind == "input":
        return symptom, symptom
    return born or symptom, symptom


def guilty(facts: IncidentFacts, evidence: Evidence | None) -> tuple[tuple[int, ...] | None, tuple[int, ...] | None]:
    """Return (rows of the batch, dataset indices) that are guilty; all of them if no single row can be."""
    if facts.setting is not None:
        return None, None
    indices = facts.loader.indices if facts.loader else None
    rows = facts.batch_rows if facts.batch_rows is not None else (facts.birth.rows if facts.birth else None)
    if evidence is not None and evidence.whole_batch and indices is not None:
        return tuple(range(len(indices))), indices
    samples, ordered = facts.sample_index, facts.loader is not None and facts.loader.keeps_order
    if samples is None and rows and indices is not None and ordered and all(r < len(indices) for r in rows):
        samples = tuple(indices[r] for r in rows)
    return rows, samples


def sentence(
    facts: IncidentFacts,
    because: str,
    line: Frame | None,
    samples: tuple[int, ...] | None,
    rows: tuple[int, ...] | None,
) -> str:
    """The one useful sentence: where in the run - what was seen - which sample - where to edit."""
    which = ""
    whole = facts.loader.in_whole(samples) if facts.loader is not None else None
    if samples and whole:
        which = f"; dataset {plural('sample', whole)} ({plural('sample', samples)} of the Subset)"
    elif samples:
        which = f"; dataset {plural('sample', samples)}"
    elif rows:
        which = f"; {plural('row', rows)} of the batch"
    where = f"; edit {file_line(line)}" if line else ""
    return f"{facts.ref}: {SYMPTOMS[facts.symptom]} because {because}{which}{where}"


def plural(word: str, numbers: tuple[int, ...], most: int = 6) -> str:
    """Format numbers with their noun: `samples 3, 7 and 12 more`."""
    shown = ", ".join(map(str, numbers[:most])) + (f" and {len(numbers) - most} more" if len(numbers) > most else "")
    return f"{word}{'s' if len(numbers) > 1 else ''} {shown}"


def why_unknown(facts: IncidentFacts) -> str:
    """Why there is no cause, and which way of replay was used."""
    if facts.birth is not None:
        return "the place of birth is known, the cause is not in the catalogue"
    if facts.note:
        return f"the cause is unknown: {facts.note}"
    if facts.replay is None:
        return "the cause is unknown: the step was not executed again, only the flight record is there"
    if facts.replay.reproduced:
        return (
            f"the cause is unknown: replay ({facts.replay.mechanism}) shows the fault ({facts.replay.parity}) but no "
            "op that made it"
        )
    seen = f"replay ({facts.replay.mechanism}) did not show the fault ({facts.replay.parity})"
    if not_recorded(facts):
        return f"the cause is unknown: {RESTED}, and what could be executed again without them did not show the fault"
    write = unseen_write(facts)
    if write is not None:
        seen += (
            f", and it began after a write of the program's own: {write.op} at {Path(write.frame.file).name}:"
            f"{write.frame.line} wrote {some(write.params)} since the last update"
        )
    return f"the cause is unknown: {seen}"


def not_recorded(facts: IncidentFacts) -> bool:
    """Whether the calls of the step were not recorded, to stay under the promised cost."""
    return facts.replay is not None and any(RESTED in why for why in facts.replay.refused)


def unseen_write(facts: IncidentFacts) -> WeightWrite | None:
    """The program's own write into its weights that a replay cannot take back; None where there was none."""
    return next((write for write in facts.written if not write.replayed), None)


def next_steps(facts: IncidentFacts) -> tuple[str, ...]:
    """What to do without a cause."""
    if facts.note and facts.world_size > 1:
        return (
            (
                "read the verdict of the rank that made it: `debug-tracer report RUN` shows the earliest birth of all "
                "ranks"
            ),
        )
    if facts.replay is not None and facts.replay.reproduced:
        return (
            "execute the step again offline: `debug-tracer replay INCIDENT`",
            "look at the batch: `debug-tracer report RUN --batch`",
        )
    write = unseen_write(facts)
    if write is not None:
        at = file_line(write.frame)
        return (
            f"look at what {at} writes into {some(write.params)}: that it is finite, and that it is meant to "
            "happen between forward and update",
            "look at the batch: `debug-tracer report RUN --batch`",
        )
    if not_recorded(facts):
        return (
            "run it again with `--cost 1`: every step is recorded then",
            "look at the batch: `debug-tracer report RUN --batch`",
        )
    return (
        "look at the batch: `debug-tracer report RUN --batch`",
        "see what could not be recorded and why: `debug-tracer doctor RUN`",
        "fix the seed, make the run deterministic (torch.use_deterministic_algorithms(True)) and run again under watch",
    )


def suspect(ranked: Ranked) -> Suspect:
    """A further cause as the verdict writes it."""
    return Suspect(
        kind=ranked.cause.kind,
        cause=ranked.cause.slug,
        confidence=ranked.evidence.confidence,
        status=word(ranked.evidence.confidence),
    )
