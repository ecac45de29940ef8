"""From belief and trials to the verdict: which cause, how sure, what was seen to heal the step, what is against it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugtracer.causes.cause import Cause, causes
from debugtracer.causes.incident_evidence import IncidentEvidence
from debugtracer.causes.pipeline_evidence import changed
from debugtracer.diagnosis.proof.attribution import STATE, attributed
from debugtracer.diagnosis.proof.likelihood import UNKNOWN
from debugtracer.diagnosis.proof.rank import Ranked, explained, unexplained, unseen_write
from debugtracer.diagnosis.proof.remedy_effects import healing, honest
from debugtracer.diagnosis.proof.score_text import outcome
from debugtracer.diagnosis.proof.trials import TrialSeries
from debugtracer.interventions.intervention import NARROW, interventions
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.file_line import file_line
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import LIKELY, POSSIBLE, SUSPECTS, Change, Status, Suspect, Trial, Verdict, word

RIVAL = 0.05  # belief from which a rival has to be refuted (docs/rationale/inference.md#choice-of-trials)


def concluded(facts: IncidentFacts, ranked: Sequence[Ranked], series: TrialSeries) -> Verdict:
    """The verdict with its trials (docs/rationale/contracts.md#fields)."""
    shares = series.belief.shares()
    known = {r.cause.slug: r for r in ranked}
    leader = next(iter(shares))
    if leader == UNKNOWN and (is_seen(shares, known) or not refuted(series, shares, known)):
        # no trial has spoken against it, or none can: what the evidence said still holds
        leader = next(s for s in shares if s in known)
    if leader == UNKNOWN or known[leader].evidence.confidence < POSSIBLE:
        return with_trials(unexplained(facts, list(ranked)), facts, None, series)
    best = known[leader]
    others = [known[s] for s in shares if s in known and s != leader]
    status = status_of(best, series, shares)
    verdict = explained(facts, best, others)
    known_lines = facts.frames() if facts.setting is None else []  # a guard would hide a number that is to be set
    line = next((f for f in known_lines if (f.file, f.line) == (verdict.file, verdict.line)), None)
    edit = best.cause.change(IncidentEvidence(facts), line) if line is not None else None
    size = seen_to_heal(edit, series, IncidentEvidence(facts))
    edit = best.cause.change(IncidentEvidence(facts), line, size) if line is not None and size is not None else edit
    if best.evidence.place is not None and facts.pipeline is not None and not facts.pipeline.refused:
        edit = changed(facts.pipeline, verdict.file, verdict.line)
    verdict = msgspec.structs.replace(
        verdict,
        status=status,
        confidence=calibrated(status, bool(proof(best.cause, series)), max(shares[leader], 1e-3), best.cause.kind),
        change=edit,
        equivalents=equivalents(best, series),
        suspects=tuple(
            Suspect(
                kind=r.cause.kind,
                cause=r.cause.slug,
                confidence=round(shares[r.cause.slug], 3),
                status=word(shares[r.cause.slug]),
            )
            for r in others[:SUSPECTS]
        ),
    )
    return honest(with_trials(verdict, facts, best, series))


def refuted(series: TrialSeries, shares: dict[str, float], known: dict[str, Ranked]) -> bool:
    """True if the first cause's own trials were run and none healed."""
    first = next((s for s in shares if s in known), None)
    if first is None:
        return True
    proofs = [p for p in known[first].cause.proved_by if p in series.done]
    return bool(proofs) and not any(series.done[p] for p in proofs)


def is_seen(shares: dict[str, float], known: dict[str, Ranked]) -> bool:
    """True if the first cause is what the op was seen to do."""
    first = next((s for s in shares if s in known), None)
    return first is not None and known[first].evidence.seen


def status_of(best: Ranked, series: TrialSeries, shares: dict[str, float]) -> Status:
    """Return confirmed when reproduced, healed by a proof, an alternative refuted, no rival left; or for an exact
    invariant."""
    if best.evidence.exact:
        return "confirmed"
    if best.evidence.seen and best.evidence.confidence < LIKELY:
        return word(best.evidence.confidence)  # a trial that heals the batch does not tell what the line did
    proved = proof(best.cause, series)
    reproduced = any(t.intervention == "unchanged" and t.outcome == "reproduced" for t in series.trials)
    rivals = [
        s
        for s, share in shares.items()
        if s not in (best.cause.slug, UNKNOWN) and share >= RIVAL and causes()[s].kind != best.cause.kind
    ]
    if proved and reproduced and series.refuted and not rivals and shares[best.cause.slug] >= 0.9:
        return "confirmed"
    share = shares[best.cause.slug]
    if best.evidence.seen and not proved:
        return word(min(max(share, POSSIBLE), best.evidence.confidence))
    return word(share if proved else min(share, best.evidence.confidence))


def proof(cause: Cause, series: TrialSeries) -> Trial | None:
    """The narrowest trial that healed and that this cause is proved by."""
    for slug in cause.proved_by:
        for trial in series.trials:
            if trial.intervention.partition("=")[0] == slug and trial.outcome == "healed":
                return trial
    return None


def seen_to_heal(edit: Change | None, series: TrialSeries, incident: IncidentEvidence) -> float | None:
    """The number that the change takes over from a trial of its own kind: its value where its words say that it was
    used as it is; float16 needs larger."""
    proved = healing(edit, series.trials)
    value = proved.intervention.partition("=")[2] if proved is not None else ""
    return (
        float(value) if proved is not None and value and value in proved.note and incident.dtype != "float16" else None
    )


def slower(facts: IncidentFacts, best: Ranked | None, series: TrialSeries) -> tuple[str, ...]:
    """What to do next where older weights heal the step: making the op safe leaves the updates that led here as they
    are. Where a line of the program wrote the weights, no update did."""
    known = facts.optimizer
    if (
        best is None
        or any("learning rate" in text for text in best.evidence.remedies)
        or IncidentEvidence(facts).written_here is not None
        or best.cause.edit == "optimizer"
        or not series.done.get(STATE)
        or known is None
        or known.lr is None
    ):
        return ()
    at = f" at {file_line(known.frame)}" if known.frame is not None else ""
    return (
        "older weights heal this step, so the updates led to it: if training then stalls or fails again, divide the "
        f"learning rate by 10 (lr {as_float(known.lr):g}{at}) and clip the gradient: "
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before step()",
    )


def equivalents(best: Ranked, series: TrialSeries) -> tuple[str, ...]:
    """The other classes that a trial as narrow as the proof speaks for: both are true of this step."""
    order = {slug: NARROW.index(i.scope) for slug, i in interventions().items()}
    proved = proof(best.cause, series)
    if proved is None:
        return ()
    least = order[proved.intervention.partition("=")[0]]
    kinds = {r: c.kind for r, c in causes().items() if r in series.belief.bits and c.kind != best.cause.kind}
    return tuple(
        dict.fromkeys(
            kind
            for slug, kind in kinds.items()
            if any(series.done.get(p) and order[p] <= least for p in causes()[slug].proved_by if p in order)
        )
    )


def with_trials(verdict: Verdict, facts: IncidentFacts, best: Ranked | None, series: TrialSeries) -> Verdict:
    """What was tried, in sentences."""
    proved = proof(best.cause, series) if best is not None else None
    healed = [t for t in series.trials if t.outcome == "healed"]
    shown = proved or (min(healed, key=narrowness) if healed else None)
    evidence = [best.evidence.because] if best is not None else []
    lies = healthy_after(facts) or attributed(series.trials, series.done)
    evidence += [lies] if lies else []
    against = list(best.evidence.against) if best is not None else []
    if best is not None and not best.evidence.exact:  # what was seen to happen, no trial speaks against
        against += [
            f"{t.intervention} would heal this cause and did not"
            for t in series.trials
            if t.outcome == "not healed" and t.intervention.partition("=")[0] in best.cause.proved_by
        ]
        against += [
            f"{t.intervention} healed the step and would not heal this cause"
            for t in healed
            if t.intervention.partition("=")[0] in best.cause.refuted_by
        ]
    return msgspec.structs.replace(
        verdict,
        remedy=verdict.remedy + slower(facts, best, series),
        trials=tuple(series.trials),
        tested=f"with {shown.note}: {outcome(shown, facts.symptom)}" if shown is not None else "",
        evidence=tuple(evidence),
        against=tuple(against),
    )


def healthy_after(facts: IncidentFacts) -> str:
    """What a replay shows that could only begin after a line of the program had written weights; "" for others."""
    write = unseen_write(facts) if facts.replay is not None and facts.replay.parity == "not reproduced" else None
    if write is None:
        return ""
    at = file_line(write.frame)
    return f"the step is healthy with the weights as {at} has left them; the fault needs those from before that line"


def narrowness(trial: Trial) -> int:
    """Return the sort key of a trial: narrow scopes first."""
    return NARROW.index(interventions()[trial.intervention.partition("=")[0]].scope)
