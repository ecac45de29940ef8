"""From belief and trials to the verdict: which cause, how sure, what was seen to heal the step, what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugtracer.causes.cause import Cause, causes
from debugtracer.causes.reading import Reading
from debugtracer.diagnosis.attribution import STATE, attributed
from debugtracer.diagnosis.beside import healing, honest
from debugtracer.diagnosis.likelihood import UNKNOWN
from debugtracer.diagnosis.outcome import outcome
from debugtracer.diagnosis.rank import LIKELY, POSSIBLE, SUSPECTS, Ranked, explained, unexplained
from debugtracer.diagnosis.trials import Series
from debugtracer.interventions.intervention import NARROW, interventions
from debugtracer.trace.birth import Frame
from debugtracer.trace.calibration import calibrated
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Change, Status, Suspect, Trial, Verdict

RIVAL = 0.05  # share of belief from which on another cause has to be refuted before one is confirmed (CHECKS 5.2.4: 95 % of the mass)


def concluded(facts: IncidentFacts, ranked: Sequence[Ranked], series: Series) -> Verdict:
    """The verdict of DESIGN 3.3 with its trials."""
    shares = series.belief.shares()
    known = {r.cause.slug: r for r in ranked}
    leader = next(iter(shares))
    if leader == UNKNOWN and any(known[s].signs.confidence >= POSSIBLE for s in shares if s in known) and not refuted(series, shares, known):
        leader = next(s for s in shares if s in known)  # no trial has spoken against it: what the signs said still holds
    if leader == UNKNOWN or known[leader].signs.confidence < POSSIBLE:
        return told(unexplained(facts, list(ranked)), facts, None, series)
    best = known[leader]
    others = [known[s] for s in shares if s in known and s != leader]
    status = status_of(best, series, shares)
    verdict = explained(facts, best, others)
    line = next((f for f in places(facts) if (f.file, f.line) == (verdict.file, verdict.line)), None)
    propose = getattr(best.cause, "change", None)
    edit = propose(Reading(facts), line) if line is not None and propose is not None else None
    size = seen_to_heal(edit, series, Reading(facts))
    edit = propose(Reading(facts), line, size) if size is not None and propose is not None else edit
    verdict = msgspec.structs.replace(
        verdict,
        status=status,
        confidence=calibrated(status, bool(proof(best.cause, series)), max(shares[leader], 1e-3), best.cause.kind),
        change=edit,
        equivalents=equivalents(best, series),
        suspects=tuple(
            Suspect(kind=r.cause.kind, cause=r.cause.slug, confidence=round(shares[r.cause.slug], 3), status=word(shares[r.cause.slug]))
            for r in others[:SUSPECTS]
        ),
    )
    return honest(told(verdict, facts, best, series))


def refuted(series: Series, shares: dict[str, float], known: dict[str, Ranked]) -> bool:
    """The first cause's own trials were run and none healed."""
    first = next((s for s in shares if s in known), None)
    if first is None:
        return True
    proofs = [p for p in known[first].cause.proved_by if p in series.done]
    return bool(proofs) and not any(series.done[p] for p in proofs)


def status_of(best: Ranked, series: Series, shares: dict[str, float]) -> Status:
    """Confirmed: reproduced, healed by what proves it, an alternative refuted, no rival left. An exact invariant needs no trial."""
    if best.signs.exact:
        return "confirmed"
    proved = proof(best.cause, series)
    reproduced = any(t.intervention == "unchanged" and t.outcome == "reproduced" for t in series.trials)
    rivals = [s for s, share in shares.items() if s not in (best.cause.slug, UNKNOWN) and share >= RIVAL and causes()[s].kind != best.cause.kind]
    if proved and reproduced and series.refuted and not rivals and shares[best.cause.slug] >= 0.9:
        return "confirmed"
    return word(shares[best.cause.slug] if proved else min(shares[best.cause.slug], best.signs.confidence))


def word(share: float) -> Status:
    """The word for a belief without a proof."""
    return "likely" if share >= LIKELY else "possible" if share >= POSSIBLE else "unknown"


def proof(cause: Cause, series: Series) -> Trial | None:
    """The narrowest trial that healed and that this cause is proved by."""
    for slug in cause.proved_by:
        for trial in series.trials:
            if trial.intervention.partition("=")[0] == slug and trial.outcome == "healed":
                return trial
    return None


def seen_to_heal(edit: Change | None, series: Series, seen: Reading) -> float | None:
    """The number that the change takes over from a trial of its own kind: its value where its words say that it was used as it is; float16 needs larger."""
    proved = healing(edit, series.trials)
    value = proved.intervention.partition("=")[2] if proved is not None else ""
    return float(value) if proved is not None and value and value in proved.note and seen.dtype != "float16" else None


def slower(facts: IncidentFacts, best: Ranked | None, series: Series) -> tuple[str, ...]:
    """What to do next where older weights heal the step: making the op safe leaves the updates that led here as they are."""
    known = facts.optimizer
    said = any("learning rate" in text for text in best.signs.remedies) if best is not None else True
    if best is None or said or best.cause.edit == "optimizer" or not series.done.get(STATE) or known is None or known.lr is None:
        return ()
    at = f" at {Path(known.frame.file).name}:{known.frame.line}" if known.frame is not None else ""
    return (
        f"older weights heal this step, so the updates led to it: if training then stalls or fails again, divide the learning rate by 10 "
        f"(lr {as_float(known.lr):g}{at}) and clip the gradient: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) before step()",
    )


def equivalents(best: Ranked, series: Series) -> tuple[str, ...]:
    """Other classes that a trial as narrow as the proof speaks for: both are true of this step."""
    order = {slug: NARROW.index(i.scope) for slug, i in interventions().items()}
    proved = proof(best.cause, series)
    if proved is None:
        return ()
    least = order[proved.intervention.partition("=")[0]]
    kinds = {r: c.kind for r, c in causes().items() if r in series.belief.bits and c.kind != best.cause.kind}
    return tuple(
        dict.fromkeys(kind for slug, kind in kinds.items() if any(series.done.get(p) and order[p] <= least for p in causes()[slug].proved_by if p in order))
    )


def told(verdict: Verdict, facts: IncidentFacts, best: Ranked | None, series: Series) -> Verdict:
    """What was tried, in sentences."""
    proved = proof(best.cause, series) if best is not None else None
    healed = [t for t in series.trials if t.outcome == "healed"]
    shown = proved or (min(healed, key=narrowness) if healed else None)
    evidence = [best.signs.because] if best is not None else []
    lies = attributed(series.trials, series.done)
    evidence += [lies] if lies else []
    against = list(best.signs.against) if best is not None else []
    if best is not None:
        against += [
            f"{t.intervention} would heal this cause and did not"
            for t in series.trials
            if t.outcome == "not healed" and t.intervention.partition("=")[0] in best.cause.proved_by
        ]
        against += [
            f"{t.intervention} healed the step and would not heal this cause" for t in healed if t.intervention.partition("=")[0] in best.cause.refuted_by
        ]
    return msgspec.structs.replace(
        verdict,
        remedy=verdict.remedy + slower(facts, best, series),
        trials=tuple(series.trials),
        tested=f"with {shown.note}: {outcome(shown, facts.symptom)}" if shown is not None else "",
        evidence=tuple(evidence),
        against=tuple(against),
    )


def narrowness(trial: Trial) -> int:
    """Narrow scopes first."""
    return NARROW.index(interventions()[trial.intervention.partition("=")[0]].scope)


def places(facts: IncidentFacts) -> list[Frame]:
    """Every line of the user's that is known."""
    known = [*(facts.birth.frames if facts.birth else ()), facts.symptom_frame]
    known += [facts.loader.frame if facts.loader else None, facts.optimizer.frame if facts.optimizer else None]
    known.append(facts.rate.scheduler_frame if facts.rate else None)
    return [f for f in known if f is not None]
