"""Does a load that may leave names out take what it was given?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.checkpoint import CheckpointSaved
from debugtracer.trace.facts.names_ignored import NamesIgnored
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

WRAPPED = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile put before the names of a model."""


class NamesLeftOut(Check, frozen=True):
    """load_state_dict(strict=False) took nothing of a checkpoint, or left out what another prefix would have let in.

    What it catches
        Weights saved through DataParallel, torch.compile or a wrapper (`module.`, `_orig_mod.`, `model.`) and loaded
        with strict=False; a checkpoint of the whole model given to a part of it; a state that the program has filtered
        by names of which none fits.
    Why it matters
        Nothing is said: training begins with random weights that are taken for pretrained ones.
    How it decides
        At the first update after the load, when the tensors that got nothing still have the values they had and no
        later load has filled them. It is sure where none was taken and one prefix makes at least half of the names fit,
        each with its shape. Where some were taken (a new head on a pretrained backbone) it speaks only if four or more
        would fit with a prefix added or taken away, which are half of what was left out or most of the module's values;
        with a part of the name inside taken out or put in (`encoder.module.` for `encoder.`) if they are most of its
        values. A program that picks the names that fit itself is read in the same way, beside its file. Where none was
        taken and no prefix helps, it is a warning.
    What to do
        Take the prefix off or put it on before the load, and read `missing_keys` and `unexpected_keys` of the result.
    Example
        step 0, rank 0: Net took 0 of the 6 tensors it was given: the names of the state begin with `module.`
        (module.0.weight), those of Net do not (0.weight), and strict=False leaves out what does not fit; without that
        prefix 6 fit. Expected trained weights. Strip the prefix before the load.
    """

    needs: ClassVar[tuple[type[NamesIgnored]]] = (NamesIgnored,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "print missing_keys and unexpected_keys of what load_state_dict returns; both are empty where all was loaded",
    )
    proved_by: ClassVar[str] = "rollback/quiet_backbone"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each load."""
        for fact in window.new(NamesIgnored):
            sure = fact.loaded == 0 and fact.healed > 0
            yield self.finding(
                window,
                "error" if sure else "warning",
                f"{fact.owner} took {fact.loaded} of the {counted(fact.given, 'tensor')} "
                f"{'of the file' if fact.filtered else 'it was given'}: {why(fact)}. Expected trained weights. "
                f"{advice(fact)}{written(window, fact)}.",
                ref=fact.ref,
                exact=sure,
                confidence=0.97 if sure else self.confidence,
                place=Place(frame=fact.kept or fact.frame, symptom_frame=fact.frame),
                remedies=remedies(fact, self.remedies[0]),
                given=float(fact.given),
                loaded=float(fact.loaded),
                healed=float(fact.healed),
            )


def written(window: Window, fact: NamesIgnored) -> str:
    """The line of this run that has saved such a state, where the whole of the wrapped model went into the only
    one."""
    lines = {
        one.frame for one in window.seen(CheckpointSaved) if one.frame is not None and one.ref.step <= fact.ref.step
    }
    frame = lines.pop() if len(lines) == 1 else None
    wrapped = fact.removed in WRAPPED and not fact.added
    return f", or save the unwrapped model{spot(frame)}" if frame is not None and wrapped else ""


def why(fact: NamesIgnored) -> str:
    """What differs in the names."""
    silent = "strict=False leaves out what does not fit"
    if fact.filtered:
        silent = "the program left out what does not fit"
    if not fact.healed:
        one = f" ({fact.given_name} there, {fact.own_name} here)" if fact.given_name else ""
        return f"none of its names is one of the {counted(fact.missing, 'tensor')} of the module{one}, and {silent}"
    begins = f"those of {fact.owner} with `{fact.added}` ({fact.own_name})" if fact.added else ""
    if fact.removed:
        rest = begins or f"those of {fact.owner} do not ({fact.own_name})"
        which = "the names left out" if fact.loaded else "the names of the state"
        names = f"{which} begin with `{fact.removed}` ({fact.given_name}), {rest}"
    else:
        own = f"the names of {fact.owner} begin with `{fact.added}` ({fact.own_name})"
        names = f"{own}, the state has {fact.given_name}"
    swapped = "with that prefix" if fact.added else "without that prefix"
    return f"{names}, and {silent}; {swapped} {fact.healed} {'fits' if fact.healed == 1 else 'fit'}"


def advice(fact: NamesIgnored) -> str:
    """What to do about it, in a few words."""
    if not fact.healed:
        return "Compare both lists of names"
    if fact.removed and fact.added:
        return "Rename before the load"
    return "Strip the prefix before the load" if fact.removed else "Add the prefix before the load"


def remedies(fact: NamesIgnored, read: str) -> tuple[str, ...]:
    """The line that renames, where a prefix heals it."""
    if not fact.healed:
        return (read,)
    if fact.removed and fact.added:
        name = f"k.replace({fact.removed!r}, {fact.added!r}, 1)"
    elif fact.removed:
        name = f"k.removeprefix({fact.removed!r})"
    else:
        name = f"k if k in model.state_dict() else {fact.added!r} + k" if fact.loaded else f"{fact.added!r} + k"
    return f"rename before the load: state = {{{name}: v for k, v in state.items()}}", read
