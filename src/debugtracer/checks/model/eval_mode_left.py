"""Does the model still train in evaluation mode after an evaluation?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class EvalModeLeft(Check, frozen=True):
    """Training goes on in evaluation mode.

    What it catches
        `model.eval()` for a validation, or for an attack within each step, and no `model.train()` after it, or
        `model.training = True` in its place, which the layers inside do not hear.
    Why it matters
        Dropout is off and batch norm keeps its old statistics from then on: the model overfits, or drifts away from its
        statistics.
    How it decides
        All dropout and batch-norm layers of a module were in training mode in a backward, then one eval() call switched
        them all, the module was called without a graph, and `steps` backwards later they still are. Frozen from the
        start, or batch norms switched one by one, is intent; any other partial switch is a note. A flag of the
        module that says training counts as intent only where train() was called since. Where no backward was ever in
        training mode it is a warning after `never` of them, if train() had been called on a module that an optimizer
        trains and one eval() call after it switched all.
    What to do
        Call `model.train()` at the begin of each epoch, or after the evaluation.
    Example
        step 40, rank 0: all 3 dropout and batch-norm layers of Net are in evaluation mode since model.eval() at
        train.py:61, in 3 backwards; expected training mode, as before. Call model.train() after the evaluation.
    """

    needs: ClassVar[tuple[str | type[ModuleModes], ...]] = (ModuleModes, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "train_eval_mode"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call model.train() at the begin of each epoch",
        "or right after the evaluation",
    )
    proved_by: ClassVar[str] = "model/validation_each_epoch"

    steps: int = 3
    """Backwards in evaluation mode (ours: one may be meant)."""
    never: int = 16
    """Such backwards from the first one on (ours)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Follow each root through its changes of mode; yield one finding when it stays in evaluation mode."""
        roots = window.memory(self)
        for fact in window.new(ModuleModes):
            if fact.silent:
                continue
            most, since = roots.get(fact.root, (0, None))
            asleep = fact.training < fact.total and most > fact.training
            never = not most and fact.whole and fact.asked is not None
            roots[fact.root] = max(most, fact.training), (since or fact) if asleep or never else None
        for root, (most, since) in list(roots.items()):
            steps = self.steps if most else self.never
            if since is not None and window.ref.iteration - since.ref.iteration >= steps - 1:
                roots[root] = 0, None
                yield from self.describe(window, since, most) if most else self.describe_never(window, since)

    def describe_never(self, window: Window, fact: ModuleModes) -> Iterator[Finding]:
        """The eval() call after which no backward was in training mode, and the train() call before it."""
        called = f"{fact.frame.code or 'eval()'} at line {fact.frame.line}" if fact.frame else "an eval() call"
        before = f"{fact.asked.code or 'train()'} at line {fact.asked.line}" if fact.asked else "train()"
        yield self.finding(
            window,
            "warning",
            f"all {fact.total} dropout and batch-norm layers of {fact.root} were in evaluation mode in each of the "
            f"first {self.never} backwards: {called} comes after {before}; expected training mode where an optimizer "
            f"trains. Call model.train() after line {fact.frame.line if fact.frame else 'of that call'}.",
            ref=fact.ref,
            exact=False,
            place=Place(frame=fact.frame, symptom_frame=fact.symptom),
            layers=float(fact.total),
            were_training=0.0,
        )

    def describe(self, window: Window, fact: ModuleModes, most: int) -> Iterator[Finding]:
        """The eval() call, and whether it left all of them in evaluation mode."""
        proven = fact.whole and fact.evaluated
        if not proven and fact.norms_only:
            return
        where = f" since {fact.frame.code or 'eval()'} at line {fact.frame.line}" if fact.frame else ""
        flag = "; its own flag was set to training, which does not reach its layers" if fact.by_hand else ""
        count = f"all {fact.total}" if fact.training == 0 else f"{fact.total - fact.training} of {fact.total}"
        yield self.finding(
            window,
            "error" if proven else "note",
            f"{count} dropout and batch-norm layers of {fact.root} are in evaluation mode{where}, in {self.steps} "
            f"backwards{flag}; "
            "expected training mode, as before. Call model.train() after the evaluation.",
            ref=fact.ref,
            place=Place(frame=fact.frame, symptom_frame=fact.symptom),
            layers=float(fact.total),
            were_training=float(most),
        )
