"""Did a loss refuse a class that its input has no column for?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import with_samples
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import Crash, IntegerRows
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

REFUSED = re.compile(r"Target (-?\d+) is out of bounds|Class values must be (smaller than num_classes|non-negative)")


class TargetOutOfBounds(Check, frozen=True):
    """The program died of a target outside the classes of its loss.

    What it catches
        Labels that begin at 1, a class that the head does not have, -1 for "unknown".
    Why it matters
        torch names one value; which samples hold such labels, and how many classes there are, it does not say.
    How it decides
        The exception of cross_entropy, nll_loss or one_hot, and the targets of that very call, row by row (ignore_index
        left out).
    What to do
        Map the labels to 0..classes-1, give the unknown ones ignore_index, or give the head one more output.
    Example
        step 12, rank 0: cross_entropy was given class 7 in 2 of 16 targets (samples 41, 77); the input has 7 classes;
        expected 0..6. Map the labels, or give the head more outputs.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_out_of_range"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "map the labels to 0..classes-1 where the dataset makes them",
        "give the last layer one output for each class",
        "give unknown labels the value of ignore_index (-100)",
    )
    proved_by: ClassVar[str] = "data/rare_defect"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such a target."""
        for crash in window.new(Crash):
            if REFUSED.match(crash.message):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which labels of which samples, and what is allowed."""
        loss = next(
            (c for c in crash.torch_calls if c in ("cross_entropy", "nll_loss")),
            crash.torch_calls[0] if crash.torch_calls else "one_hot",
        )
        classes = classes_of(crash)
        rows = outside(crash.rows, classes) if crash.rows and classes else ()
        samples = tuple(crash.rows.indices[r] for r in rows) if crash.rows and crash.rows.indices else None
        worst = worst_of(crash, rows)
        count = (
            f" in {len(rows)} of {len(crash.rows.values)} rows{with_samples(samples)}" if rows and crash.rows else ""
        )
        made = crash.rows.made if crash.rows else ()
        allowed = (
            f"the input has {classes} classes; expected 0..{classes - 1}"
            if classes
            else "expected a class that the input has a column for"
        )
        return self.finding(
            window,
            "error",
            f"{loss} was given {worst}{count}{made_at(made)}; {allowed}. Map the labels, or give the head more "
            "outputs.",
            ref=crash.ref,
            place=Place(
                frame=first_of(made, crash),
                symptom_frame=crash.frames[0] if crash.frames else None,
                batch_rows=crash.rows.in_batch(rows) if crash.rows else None,
                sample_index=samples or None,
            ),
            classes=classes or 0,
        )


def worst_of(crash: Crash, rows: tuple[int, ...]) -> str:
    """The class that was refused, in words: the number that the exception names, else the one furthest outside."""
    found = REFUSED.match(crash.message)
    if found is not None and found.group(1):
        return f"class {found.group(1)}"
    below = found is not None and found.group(2) == "non-negative"
    given = [value for row in rows for value in crash.rows.values[row]] if crash.rows else []
    if given:
        return f"class {min(given) if below else max(given)}"
    return "a class below 0" if below else "a class that is too large"


def classes_of(crash: Crash) -> int | None:
    """The columns of the input of the loss, or the num_classes of one_hot."""
    given = next((t for t in crash.tensors if t.name == "input"), None)
    if given is None or not given.shape:
        return crash.numbers.get("num_classes")
    return given.shape[1] if len(given.shape) > 1 else given.shape[0]


def outside(rows: IntegerRows, size: int) -> tuple[int, ...]:
    """The rows with a value that is not in 0..size-1."""
    return tuple(row for row, span in enumerate(rows.values) if span and (span[0] < 0 or span[-1] >= size))


def first_of(made: tuple[Frame, ...], crash: Crash) -> Frame | None:
    """The line that made the indices; else the innermost line of the user's."""
    return made[0] if made else crash.frames[0] if crash.frames else None
