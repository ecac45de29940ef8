"""The trials of a verdict in words: what was changed and what came of it, the change of the user's line, what speaks
for and against."""

from __future__ import annotations

import math

from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Trial, Verdict
from debugtracer.views.view import Row
from debugtracer.views.words import wording

FACTS = 5  # sentences of evidence shown beside the one that the verdict leads with (ours)
SHOWN = 4  # trials that could not run are shown up to this many (ours)
LABELS = 9  # columns of "against"
STYLES = {"healed": "green", "not healed": "", "could not run": "dim", "reproduced": "", "not reproduced": "bold"}
ORDER = ("reproduced", "not reproduced", "healed", "not healed")
NOT_TO_BLAME = {
    "other-batch": "this batch is",
    "sanitised-batch": "extreme values of the batch are",
    "without-sample": "that row is",
    "older-weights": "the last updates are",
    "full-precision": "half precision is",
    "reference-device": "neither the device nor its rounding is",
    "lower-lr": "the learning rate is",
    "fresh-moments": "the optimizer's moments are",
    "other-optimizer": "the kind of optimizer is",
    "clipped-gradient": "the size of the gradient is",
    "larger-eps": "eps is",
    "reseeded": "the random numbers drawn are",
}
"""What a trial that did not heal takes the blame from."""


def rows(verdict: Verdict) -> list[Row]:
    """Return one row a trial: control, healed (the proof of the cause first), not healed; last what could not run."""
    ran = sorted(
        (t for t in verdict.trials if t.outcome != "could not run"),
        key=lambda t: (ORDER.index(t.outcome), not is_proof(t, verdict)),
    )
    idle = [t for t in verdict.trials if t.outcome == "could not run" and t.note]
    told: list[Row] = [(t.intervention, trial_text(t, verdict.symptom), STYLES[t.outcome]) for t in ran]
    more = f"; and {len(idle) - SHOWN} more" if len(idle) > SHOWN else ""
    return told + (
        [("not tried", "; ".join(f"{t.intervention} ({t.note})" for t in idle[:SHOWN]) + more, "dim")] if idle else []
    )


def is_proof(trial: Trial, verdict: Verdict) -> bool:
    """True for the trial whose outcome stands beside the change."""
    return bool(trial.note) and verdict.tested.startswith(f"with {trial.note}:")


def width(verdict: Verdict) -> int:
    """The width of the column of names."""
    return min(28, 4 + max(len(name) for name, _, _ in rows(verdict)))


def trial_text(trial: Trial, symptom: str = "") -> str:
    """Format an outcome: `healed: clamp_min(1e-06) before the logarithm at train.py:82; loss 4.086, gradients
    finite`."""
    slug = trial.intervention.partition("=")[0]
    if trial.spread is not None:
        return trained(trial)
    if slug == "unchanged":
        times = f" ({trial.repeats} times)" if trial.repeats > 1 else ""
        return (
            f"the fault {'came again' if trial.outcome == 'reproduced' else 'did not come again'}{times}"
            f"{after(numbers(trial, symptom))}"
        )
    cleared = f"; so {clears(slug)}" if trial.outcome == "not healed" and slug in NOT_TO_BLAME else ""
    return f"{trial.outcome}: {trial.note}{after(numbers(trial, symptom))}{cleared}"


def trained(trial: Trial) -> str:
    """Format an outcome of training: `healed: weight_decay=0; loss 2.18 ± 0.03`."""
    word = "" if trial.outcome == "reproduced" else f"{trial.outcome}: "
    return f"{word}{trial.note}; loss {wording.number(trial.loss)} \u00b1 {as_float(trial.spread or 0.0):.2g}"


def clears(slug: str) -> str:
    """Format what a failed trial clears: `this batch is not to blame`."""
    words = NOT_TO_BLAME[slug]
    return f"{words} to blame" if words.startswith("neither") else f"{words} not to blame"


def after(text: str) -> str:
    """Return the text after a semicolon, or nothing for none."""
    return f"; {text}" if text else ""


def numbers(trial: Trial, symptom: str = "") -> str:
    """The scores; what went wrong, or is well again, stands beside the loss."""
    well = trial.outcome == "healed"
    parts = [f"loss {wording.number(trial.loss)}"] if trial.loss is not None else []
    if symptom == "bad_update":
        parts.append(f"parameters {'finite' if well else 'not finite'} after the update")
    elif trial.grad_l2 is not None and (well or not math.isfinite(as_float(trial.grad_l2))):
        parts.append("gradients finite" if well else "gradients not finite")
    if trial.probe_loss is not None:
        parts.append(f"a healthy batch after the update: {wording.number(trial.probe_loss)}")
    return ", ".join(parts)


def heading(verdict: Verdict) -> str:
    """What the rows are about: one step, several that are kept, or a training on their batches."""
    if any(t.spread is not None for t in verdict.trials):
        return "What was tried in training on the last batches"
    return (
        "What was tried on the last steps"
        if any(t.intervention == "one-line-fix" for t in verdict.trials)
        else "What was tried on this step"
    )


def sides(verdict: Verdict) -> list[tuple[str, str]]:
    """What else is for the cause and against it, which other classes the trials cannot exclude, what the library
    knows."""
    facts = [text for text in verdict.evidence if text not in verdict.summary]
    told = [("shown" if n == 0 else "", text) for n, text in enumerate(facts[:FACTS])]
    told += [("against" if n == 0 else "", text) for n, text in enumerate(verdict.against[:3])]
    if verdict.equivalents:
        told.append(("also", f"as true of this step: {', '.join(verdict.equivalents)}"))
    if verdict.known:
        told.append(("known", verdict.known))
    return told


def change(verdict: Verdict) -> list[str]:
    """The change of the user's line as a small diff; empty where there is none."""
    edit = verdict.change
    return (
        [wording.at(edit.file, edit.line), f"- {edit.before}", *(f"+ {line}" for line in edit.after)]
        if edit is not None
        else []
    )


def tested(verdict: Verdict) -> str:
    """What came of it, of a change or a fix of one line; empty where neither is proposed, or the cause is a guess."""
    fixed = any(t.intervention == "one-line-fix" or t.spread is not None for t in verdict.trials)
    if not verdict.tested or verdict.status not in ("confirmed", "likely") or (verdict.change is None and not fixed):
        return ""
    return f"tried {verdict.tested}" if fixed else f"tried on this step {verdict.tested}"
