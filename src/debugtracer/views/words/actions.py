"""What debug-tracer did in a run, with what came of it, as rows and as plain values."""

from __future__ import annotations

from collections import Counter
from typing import Any

from debugtracer.trace.events import Acted, ActionEffect
from debugtracer.trace.store.reader import Trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import Row
from debugtracer.views.words import wording

SHOWN = 8  # actions told one by one, and samples of one of them


def taken(trace: Trace) -> list[tuple[Acted, ActionEffect | None]]:
    """Return every action with its measured effect, where one was."""
    events = trace.events()
    effects = {(event.rank, event.step): event for event in events if isinstance(event, ActionEffect)}
    return [(event, effects.get((event.rank, event.step))) for event in events if isinstance(event, Acted)]


def rows(trace: Trace, above: Verdict | None) -> list[Row]:
    """Return the first actions and the last, each with samples and effect, and how many lie between."""
    found = taken(trace)
    shown = found if len(found) <= SHOWN else [*found[: SHOWN - 1], found[-1]]
    told: list[Row] = [(action.action, sentence(action, effect, above), "") for action, effect in shown]
    hidden = Counter(action.action for action, _ in found[SHOWN - 1 : -1]) if len(found) > SHOWN else Counter()
    if hidden:
        many = ", ".join(f"{count} {slug}" for slug, count in sorted(hidden.items()))
        told.insert(-1, ("", f"and between them {many}: `--format json` lists all", "dim"))
    return told


def sentence(action: Acted, effect: ActionEffect | None, above: Verdict | None) -> str:
    """Say what was done and why, which samples it kept from the weights, and what came of it."""
    said = wording.action(action, above)
    said += samples_clause(action)
    return f"{said}; {outcome(effect)}" if effect is not None else said


def samples_clause(action: Acted) -> str:
    """Say which samples an action kept from the weights, after a semicolon; empty where none are known."""
    samples = action.samples or ()
    more = " ..." if len(samples) > SHOWN else ""
    return f"; dataset samples {', '.join(map(str, samples[:SHOWN]))}{more}" if samples else ""


def outcome(effect: ActionEffect) -> str:
    """Say what was measured some steps after an action."""
    bad = f"{effect.bad} more bad step{'s' if effect.bad != 1 else ''}" if effect.bad else "no further bad step"
    if effect.loss_after is None:
        return f"{effect.after} steps later: {bad}"
    before = f" ({effect.loss_before:.4g} before it)" if effect.loss_before is not None else ""
    return f"{effect.after} steps later the loss is {effect.loss_after:.4g}{before}, {bad}"


def plain(trace: Trace) -> list[dict[str, Any]]:
    """Return the actions for programs; samples and effect stand where they are known."""
    return [
        {
            "action": action.action,
            "iteration": action.iteration,
            "step": action.step,
            "rank": action.rank,
            "reason": action.reason,
            **({"samples": list(action.samples)} if action.samples is not None else {}),
            **({"effect": measured(effect)} if effect is not None else {}),
        }
        for action, effect in taken(trace)
    ]


def measured(effect: ActionEffect) -> dict[str, Any]:
    """Return the numbers of an effect by name."""
    return {
        "after": effect.after,
        "loss_before": effect.loss_before,
        "loss_after": effect.loss_after,
        "bad": effect.bad,
        "helped": effect.bad == 0,
    }
