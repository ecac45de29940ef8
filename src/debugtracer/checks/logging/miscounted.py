"""Does a metric say what its loop has counted?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.pass_count import PassCount
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class Miscounted(Check, frozen=True):
    """A metric is made of a count that is not of one pass over its data.

    What it catches
        `val_loss = 0.0` before the loop over epochs instead of within it; `correct / len(train_set)` of a loop over the
        test set, `correct / len(loader)` of counted rows, `correct / len(loader.dataset)` where a sampler gives half of
        them; `correct = (pred == y).sum()` for `+=`; a meter of an evaluation that is never reset; a list of
        losses that is made before all epochs, in `sum(losses) / len(test_set)`.
    Why it matters
        Training goes well and its numbers are wrong: a model is chosen, stopped or published by a value that grows with
        the epochs, or that no data set has.
    How it decides
        By the lines of a loop over a DataLoader and the values of its variables. Kept: a name that the loop adds values
        of its batches to began its first pass at 0, is set before the loop around it alone, is divided or compared
        within that, and a later pass over the same loader, after updates, begins with another value than 0; so a list
        that is appended to, whose sum is divided by a number that the epochs do not change. Where what it is divided by
        goes on as well, in evaluations alone; so an object that is updated with each batch, has a `reset` and is asked
        behind the loop: its numbers are 0 at the first pass, and not at a later one. Divisor: a
        sum of `a == b` with one element a row, begun at 0 before the loop, is divided by a number that is no count of
        the rows that the loader gives, by more than 2 %, nor a hundredth of them. Last: such a sum is written anew by
        each batch, and read behind the loop alone. Loops that break off, and rows that are spread over ranks, are left
        alone.
    What to do
        Set counts to 0 before each pass, add to them in each batch, and divide by the rows that were counted.
    Example
        step 38, rank 0: val_loss (train.py:41) begins pass 2 of its loop with 5.92, which pass 1 has left: it is set
        before all epochs (train.py:34), and `val_loss / len(test_loader)` (train.py:42) takes it for one pass; expected
        0. Set it to 0 before each pass.
    """

    needs: ClassVar[tuple[type[PassCount]]] = (PassCount,)
    kind: ClassVar[str] = "metric_miscounted"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "set counts to 0 before each pass, add to them in each batch, and divide by the rows that were counted",
    )
    proved_by: ClassVar[str] = "logging/orchard_yield"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Tell the first count of each kind of a loop; said once."""
        memory = window.memory(self)
        for fact in window.new(PassCount):
            about = fact.kind, fact.used
            if not memory.get(about):
                memory[about] = True
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: PassCount) -> Finding:
        """Build the finding at the line to edit."""
        use, line = f"`{fact.use}`{spot(fact.used)}", fact.frame
        if fact.kind == "kept":
            line = fact.begun
            takes = "is a mean over all passes" if fact.mean else "takes it for one pass"
            text = (
                f"{fact.name}{spot(fact.frame)} begins pass {fact.passes + 1} of its loop with {fact.value:.4g}, which "
                f"pass {fact.passes} has left: it is set before all epochs{spot(fact.begun)}, and {use} {takes}; "
                "expected 0. Set it to 0 before each pass."
            )
        elif fact.kind == "listed":
            line = fact.begun
            text = (
                f"{fact.name}{spot(fact.frame)} begins pass {fact.passes + 1} of its loop with {fact.value:g} values, "
                f"which pass {fact.passes} has left: it is made before all epochs{spot(fact.begun)}, and {use} takes "
                "them for one pass; expected an empty list. Make it anew before each pass."
            )
        elif fact.kind == "meter":
            line = fact.begun
            text = (
                f"{fact.name}{spot(fact.frame)} begins pass {fact.passes + 1} of its loop with what pass {fact.passes} "
                f"has left (a number of it is {fact.value:.4g}), and {use} is a mean over all passes; expected an "
                f"empty one. Call {fact.name}.reset() before the loop{spot(fact.begun)}."
            )
        elif fact.kind == "shared":
            line = fact.used
            text = (
                f"{use} divides what is counted in {fact.rows} rows{spot(fact.frame)} by {fact.value:g}; expected "
                f"{fact.rows}. Divide by the rows that the loop has seen."
            )
        else:
            text = (
                f"{fact.name}{spot(fact.frame)} is written anew by each of {fact.batches} batches, and {use} reads "
                f"what the last one has left; expected a sum over all {fact.rows} rows. Begin it at 0 and add with +=."
            )
        return self.finding(
            window,
            "warning",
            text,
            ref=fact.ref,
            place=Place(frame=line, symptom_frame=fact.frame if line is not fact.frame else fact.used),
            value=fact.value,
            rows=float(fact.rows),
        )
