"""From the facts of a log to ranked causes; never surer than likely, because nothing was executed again."""

from __future__ import annotations

from dataclasses import dataclass

from debugtracer.logs.anomaly import judge_anomaly
from debugtracer.logs.candidate import At, Candidate, Case
from debugtracer.logs.facts import Hit, LogFacts, fill
from debugtracer.logs.trend import judge_curves
from debugtracer.trace.verdict import POSSIBLE, Suspect, Verdict, word

SHOWN = 4  # further causes shown
CONSEQUENCES = ("ddp_desync", "nccl_failure")  # when a rank dies, the others wait for it and say so
GENERIC = ("data_read_error", "nonfinite_loss", "worker_killed")  # they say that something went wrong, not why


@dataclass(frozen=True)
class Judged:
    """The answer to a log: the verdict and the candidates behind it, the first one first."""

    verdict: Verdict | None
    candidates: tuple[Candidate, ...]

    @property
    def first(self) -> Candidate | None:
        """The likeliest cause, None without any."""
        return self.candidates[0] if self.candidates else None


def judge(facts: LogFacts) -> Judged:
    """Rank the causes that the log speaks for."""
    case = Case()
    for hit in facts.hits.values():
        judge_hit(hit, case)
    for anomaly in facts.anomalies[:1]:  # the later ones follow from it
        judge_anomaly(anomaly, case)
    judge_curves(facts, case)
    weigh(facts, case)
    ranked = tuple(case.ranked())
    return Judged(verdict_of(facts, ranked), ranked)


def judge_hit(hit: Hit, case: Case) -> None:
    """Add the class of one message, and the other classes that give the same words."""
    message = hit.message
    if not message.certainty:
        return  # its number is judged with the curves
    times = f", {hit.count} times" if hit.count > 1 else ""
    at = At(hit.line, message.symptom, hit.frame, message.op, message.phase, hit.rank)
    remedies = tuple(fill(remedy, hit.groups) for remedy in message.remedy)
    one = case.speaks_for(message.kind, message.certainty, f"{hit.because} (log line {hit.line}{times})", at, remedies)
    one.sample = one.sample or fill(message.sample, hit.groups)
    for place, other in enumerate(message.others):
        share = (1 - message.certainty) * 0.6**place * 0.6
        case.speaks_for(
            other,
            share,
            f"the same words can come from it (log line {hit.line})",
            At(hit.line, message.symptom, hit.frame),
        )


def weigh(facts: LogFacts, case: Case) -> None:
    """Weaken what follows from something else: a consequence is not the cause."""
    strong = [one for one in case.candidates.values() if one.certainty >= POSSIBLE]
    roots = [one for one in strong if one.kind not in CONSEQUENCES]
    for kind in CONSEQUENCES:
        if roots and kind in case.candidates:
            named = min(roots, key=lambda one: one.line)
            case.speaks_against(
                kind,
                0.5,
                f"{named.kind} (log line {named.line}) ends a rank by itself, and the others then wait for it",
            )
    exact = [one for one in strong if one.kind not in (*GENERIC, *CONSEQUENCES) and one.symptom == "crash"]
    for kind in GENERIC:
        if exact and kind in case.candidates and exact[0].kind != kind:
            case.speaks_against(kind, 0.6, f"{exact[0].kind} (log line {exact[0].line}) says why")


def verdict_of(facts: LogFacts, ranked: tuple[Candidate, ...]) -> Verdict | None:
    """The contract's object; iteration and step are -1 when the log does not say them."""
    if not ranked:
        return None
    first = ranked[0]
    frame, crash = first.frame, facts.crash
    shown = crash.place if crash is not None else None
    bad = next((curve.first_bad for curve in facts.curves.values() if curve.first_bad is not None), None)
    step = bad.step if bad is not None and bad.step is not None else facts.last_step
    status = word(first.certainty)  # text never confirms
    return Verdict(
        kind=first.kind if status != "unknown" else None,
        cause=first.kind.replace("_", "-") if status != "unknown" else None,
        symptom=first.symptom or "crash",
        layer=first.known.layer,
        iteration=-1,
        step=int(step) if step is not None else -1,
        rank=first.rank,
        phase=first.phase or "loss",
        op=first.op,
        direction="backward" if first.phase == "backward" and facts.anomalies else None,
        backward_op=facts.anomalies[0].node if facts.anomalies else None,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        symptom_line=shown.line if shown else None,
        status=status,
        confidence=round(first.certainty, 2),
        summary=first.evidence[0] if first.evidence else "",
        remedy=(*first.remedies, *first.known.remedy),
        suspects=tuple(
            Suspect(
                kind=one.kind,
                cause=one.kind.replace("_", "-"),
                confidence=round(one.certainty, 2),
                status=word(one.certainty),
            )
            for one in ranked[1 : 1 + SHOWN]
        ),
        evidence=first.evidence,
        against=tuple(first.against),
    )
