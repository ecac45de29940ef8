"""The trials of a verdict in words: what was changed and what came of it, the change of the user's line, what speaks for and against."""

from __future__ import annotations

import math

from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Trial, Verdict
from debugtracer.views import wording
from debugtracer.views.wording import Row

FACTS = 5  # sentences of evidence shown beside the one that the verdict leads with (ours)
SHOWN = 4  # trials that could not run are told up to this many (ours)
STYLES = {"healed": "green", "not healed": "", "could not run": "dim", "reproduced": "", "not reproduced": "bold"}


def rows(verdict: Verdict) -> list[Row]:
    """One row a trial: its name, what came of it. Those that could not run come last and shortly."""
    ran = [t for t in verdict.trials if t.outcome != "could not run"]
    idle = [t for t in verdict.trials if t.outcome == "could not run" and t.note]
    told: list[Row] = [(t.intervention, said(t), STYLES[t.outcome]) for t in ran]
    return told + [(t.intervention, f"not tried: {t.note}", "dim") for t in idle[:SHOWN]]


def width(verdict: Verdict) -> int:
    """Columns of the names."""
    return min(28, 4 + max(len(t.intervention) for t in verdict.trials))


def said(trial: Trial) -> str:
    """`healed: clamp_min(1e-06) before the logarithm at train.py:82; loss 4.086, gradients finite`."""
    if trial.intervention == "unchanged":
        times = f" ({trial.repeats} times)" if trial.repeats > 1 else ""
        return f"the fault {'came again' if trial.outcome == 'reproduced' else 'did not come again'}{times}{after(numbers(trial))}"
    return f"{trial.outcome}: {trial.note}{after(numbers(trial))}"


def after(text: str) -> str:
    """Joined by a semicolon where there is something."""
    return f"; {text}" if text else ""


def numbers(trial: Trial) -> str:
    """The scores."""
    parts = [f"loss {wording.number(trial.loss)}"] if trial.loss is not None else []
    if trial.grad_l2 is not None:
        parts.append("gradients finite" if math.isfinite(as_float(trial.grad_l2)) else "gradients not finite")
    if trial.probe_loss is not None:
        parts.append(f"a healthy batch {wording.number(trial.probe_loss)} after the update")
    return ", ".join(parts)


def sides(verdict: Verdict) -> list[tuple[str, str]]:
    """What else speaks for the cause and against it, which other classes the trials cannot tell from it, what the team knows."""
    facts = [text for text in verdict.evidence if text not in verdict.summary]
    told = [("because" if n == 0 else "", text) for n, text in enumerate(facts[:FACTS])]
    told += [("against" if n == 0 else "", text) for n, text in enumerate(verdict.against[:3])]
    if verdict.equivalents:
        told.append(("also", f"as true of this step: {', '.join(verdict.equivalents)}"))
    if verdict.known:
        told.append(("known", verdict.known))
    return told


def change(verdict: Verdict) -> list[str]:
    """The change of the user's line as a small diff, and what the step did with it; empty where there is none."""
    edit = verdict.change
    told = []
    if edit is not None:
        told = [f"{wording.path(edit.file)}:{edit.line}", f"- {edit.before}", *(f"+ {line}" for line in edit.after)]
    return [*told, f"tested: {verdict.tested}"] if verdict.tested and verdict.status in ("confirmed", "likely") else told
