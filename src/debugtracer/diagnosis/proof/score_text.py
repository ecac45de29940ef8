"""The scores of one trial in words."""

from __future__ import annotations

from debugtracer.trace.number import as_float
from debugtracer.trace.verdict import Trial


def outcome(trial: Trial, symptom: str = "") -> str:
    """Format an outcome: `loss 2.31, gradients finite, a healthy batch after the update: 2.4`."""
    if trial.outcome == "could not run":
        return f"could not run ({trial.note})"
    if trial.spread is not None and trial.loss is not None:
        return f"loss {as_float(trial.loss):.4g} \u00b1 {as_float(trial.spread):.2g}"
    parts = []
    if trial.loss is not None:
        parts.append(f"loss {as_float(trial.loss):.4g}")
    if symptom == "bad_update" and trial.outcome == "healed":
        parts.append("parameters finite after the update")
    elif trial.grad_l2 is not None:
        finite = abs(as_float(trial.grad_l2)) < float("inf")
        parts.append("gradients finite" if finite else "gradients not finite")
    elif trial.outcome == "not healed" and trial.loss is not None and abs(as_float(trial.loss)) < float("inf"):
        parts.append("still not healthy")
    if trial.probe_loss is not None:
        parts.append(f"a healthy batch after the update: {as_float(trial.probe_loss):.4g}")
    return ", ".join(parts) or ("all finite" if trial.outcome == "healed" else "still not finite")
