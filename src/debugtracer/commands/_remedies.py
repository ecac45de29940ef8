"""`debug-tracer replay INCIDENT --with`: remedies tried on the recorded step, as text and as data."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from debugtracer.errors import CapsuleError
from debugtracer.trace.birth import Birth
from debugtracer.trace.file_line import file_line
from debugtracer.views.offered_remedies import offered_remedies
from debugtracer.views.terminal import TerminalPage
from debugtracer.views.view import Row
from debugtracer.views.words import trials

if TYPE_CHECKING:
    from debugtracer.diagnosis.proof.offline_trials import TriedRemedy
    from debugtracer.interventions.intervention import Intervention
    from debugtracer.recorder.capsule.capsule import Capsule

SCHEMA = "debug-tracer.replay-with/1"
EVERY, LIST = "all", "list"


def remedies_known() -> str:
    """What `--with` takes, one a line, for the help."""
    return "\n".join(f"  {slug:18}{what}" for slug, what in offered_remedies().items())


def wanted(words: Sequence[str]) -> list[Intervention]:
    """The interventions of `--with` words, `all` for every one. Raises UsageError."""
    from debugtracer.interventions.intervention import asked, interventions

    found: dict[str, Intervention] = {}
    for word in words:
        for one in interventions().values() if word == EVERY else (asked(word),):
            found.setdefault(one.name, one)
    return list(found.values())


def try_remedies(capsule: Capsule, words: Sequence[str], *, dtype: str | None, device: str, as_json: bool) -> str:
    """Try each alone; the answer to print. Raises CapsuleError when none of them could be tried, UsageError for an
    unknown name."""
    from debugtracer.diagnosis.proof.offline_trials import try_offline

    tried = try_offline(capsule, wanted(words), dtype=dtype, device=device)
    ran = [one for one in tried if one.trial.outcome != "could not run"]
    refused = [one for one in tried if one.trial.outcome == "could not run"]
    if refused and len(ran) <= 1:
        why = "; ".join(f"{one.trial.intervention}: {one.trial.note}" for one in refused)
        raise CapsuleError(
            f"{capsule.head.facts.ref} cannot be tried with {why}. `--with all` tries what this capsule allows"
        )
    return as_data(capsule, tried) if as_json else as_text(capsule, ran, refused)


def list_remedies(capsule: Capsule, as_json: bool) -> str:
    """Tell which remedies this capsule allows and why it refuses the others; none is tried."""
    from debugtracer.interventions.intervention import interventions
    from debugtracer.replay.offline.attempt import refusal

    refused = {slug: refusal(capsule, interventions()[slug]) for slug in offered_remedies()}
    if as_json:
        return json.dumps({"schema": SCHEMA, "refused": {slug: why for slug, why in refused.items() if why}}) + "\n"
    return "".join(f"  {slug:18}{f'not here: {why}' if why else 'can be tried'}\n" for slug, why in refused.items())


def healed(tried: Sequence[TriedRemedy]) -> list[str]:
    """The names of the remedies that healed the step."""
    return [one.trial.intervention for one in tried if one.trial.outcome == "healed"]


def as_data(capsule: Capsule, tried: Sequence[TriedRemedy]) -> str:
    """Encode the trials as one JSON object."""
    ref = capsule.head.facts.ref
    answer = {
        "schema": SCHEMA,
        "incident": str(capsule.folder),
        "step": ref.step,
        "rank": ref.rank,
        "reproduced": tried[0].trial.outcome == "reproduced",
        "healed": healed(tried) if tried[0].trial.outcome == "reproduced" else [],
        "trials": [msgspec.to_builtins(one.trial) for one in tried],
    }
    return json.dumps(answer, indent=1, allow_nan=False) + "\n"


def as_text(capsule: Capsule, ran: Sequence[TriedRemedy], refused: Sequence[TriedRemedy]) -> str:
    """The headline, one row a trial, what could not be tried, what the numbers do not say."""
    from debugtracer.interventions.intervention import NEEDS_LIVE

    page = TerminalPage(sys.stdout.isatty(), 100)
    page.console.print(f"debug-tracer: {capsule.head.facts.ref}: {headline(ran)}", style="bold", soft_wrap=True)
    page.console.print()
    rows: list[Row] = [(one.trial.intervention, remedy_text(one), trials.STYLES[one.trial.outcome]) for one in ran]
    rows += [
        (one.trial.intervention, f"not tried: {one.trial.note}", "dim")
        for one in refused
        if one.trial.note != NEEDS_LIVE
    ]
    page.rows(rows, label_width=3 + max(len(name) for name, _, _ in rows))
    page.console.print()
    live = [one.trial.intervention for one in refused if one.trial.note == NEEDS_LIVE]
    if live:
        page.rows([("live", f"only tried when the step goes wrong in the run itself: {', '.join(live)}", "dim")])
    page.rows([("note", text, "dim") for text in reservations(capsule, ran)])
    return page.text()


def headline(ran: Sequence[TriedRemedy]) -> str:
    """The answer in one phrase."""
    good, names = healed(ran), [one.trial.intervention for one in ran[1:]]
    if ran[0].trial.outcome != "reproduced":
        return "unchanged, the fault does not come again here, so no trial tells anything"
    if not names:
        return "unchanged, the fault comes again"
    if good:
        return f"healed by {', '.join(good)}" + (", each alone" if len(good) > 1 else "")
    return f"not healed by {', '.join(names)}"


def remedy_text(one: TriedRemedy) -> str:
    """Format an outcome: `not healed: the learning rate divided by 10; loss 2.3, gradients not finite; born in ...`."""
    if one.birth is not None:
        return f"{trials.trial_text(one.trial)}; born in {place(one.birth)}"
    far = one.trial.outcome == "not healed"  # the symptom itself is gone
    return trials.trial_text(one.trial) + ("; finite, but far outside of what the last steps had" if far else "")


def place(birth: Birth) -> str:
    """Format the place of a birth: `aten::log at train.py:61`."""
    what = (
        f"{birth.op}{' (backward)' if birth.direction == 'backward' else ''}"
        if birth.op
        else birth.input_name or "an input"
    )
    return f"{what} at {file_line(birth.frame)}" if birth.frame else what


def reservations(capsule: Capsule, ran: Sequence[TriedRemedy]) -> list[str]:
    """What these trials cannot show."""
    told = ["one recorded step, not a training: that this step heals is seen, that the run stays healthy is not"]
    if any(one.trial.loss is not None and one.trial.grad_l2 is None for one in ran):
        told.append("no gradients: the step had stopped at its loss, so this capsule holds no backward")
    return told
