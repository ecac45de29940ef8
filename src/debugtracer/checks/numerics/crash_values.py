"""Of which values did the program die, where no other check knows the exception?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.sequence import at_line, spot
from debugtracer.trace.facts.crash import Crash, FormSeen, first_difference
from debugtracer.trace.facts.raised_expression import RaisedExpression
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

UNREADABLE = "record_unreadable"
"""The class where it is known which record the line could not take."""
KNOWN_RECORD = 0.8  # of the class where the record is known: the line ran for others (ours)


class CrashValues(Check, frozen=True):
    """The program died of an exception that no other check explains; here are the values that it died of.

    What it catches
        A record that cannot be read, a key that a vocabulary lacks, an index behind the end of an array, a value that
        is None: what the data or the program's own bookkeeping do to a line that works otherwise.
    Why it matters
        A traceback names a line and not the record: to find the one of a million takes a debugger and the whole run
        again.
    How it decides
        The bytecode of the innermost line of the program tells the expression that raised. The names in it are read as
        they were, without running code of the program, and the one that the exception is about is followed to the line
        that wrote it. The sample is the one that the loader was fetching; without a loader, the element that the loop
        around the expression was at, where it is one object of a list. A sample that a worker could not make is made
        once more by the process that trains, which is over. What a program raises by its own `raise` or `assert` speaks
        for itself and is told with its sample only. Silent where another check has explained the exception.
    What to do
        Look at that record, mend it or leave it out where the records are listed; or let the line take it.
    Example
        step 5, rank 0: `float(value)` (train.py:14) raised ValueError: could not convert string to float: 'n/a', at
        sample 61; value is 'n/a', from train.py:13; expected a line that takes every value it is given. Mend sample 61,
        leave it out where the data are listed, or let the line take it.
    """

    needs: ClassVar[tuple[type[RaisedExpression], type[Crash]]] = (RaisedExpression, Crash)
    at_end: ClassVar[bool] = True
    symptom: ClassVar[str] = "crash"
    fallback: ClassVar[bool] = True
    proved_by: ClassVar[str] = "data/ledger_lines"

    remedies: ClassVar[tuple[str, ...]] = (
        "mend the record, or leave it out where the records are listed",
        "let the line take it: a default for what is missing, a check of its form where it is read",
    )

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding for the expression that raised."""
        for fact in window.seen(RaisedExpression) if window.ended else ():
            if not fact.deliberate or fact.sample is not None:
                forms = [crash.form for crash in window.seen(Crash) if crash.form is not None]
                yield self.describe(window, fact, next((f for f in forms if f.index == fact.sample and f.name), None))

    def describe(self, window: Window, fact: RaisedExpression, form: FormSeen | None) -> Finding:
        """The expression, its values, the record, and where that first had another form than others."""
        known = "".join(
            f"; {name} is {words}{', from ' + at_line(fact.made) if name == fact.suspect and fact.made else ''}"
            for name, words in fact.values
        )
        said = f": {fact.message.rstrip('.')}" if fact.message else ""
        held = record(fact)
        found = self.finding(
            window,
            "error",
            f"`{fact.text}`{spot(fact.frame)} raised {fact.error}{said}{held and f', at {held}'}{known}"
            f"{first_difference(form)}; expected a line that takes every value it is given. {advice(fact, held)}.",
            ref=fact.ref,
            kind=UNREADABLE if fact.row is not None else None,
            confidence=KNOWN_RECORD if fact.row is not None else None,
            place=Place(
                frame=(form.frame if form is not None else None) or fact.frame,
                symptom_frame=fact.frame,
                sample_index=(fact.row,) if fact.row is not None else None,
            ),
        )
        return msgspec.structs.replace(found, layer="data") if fact.row is not None else found


def record(fact: RaisedExpression) -> str:
    """The sample or element that was in hand, in words; empty where none is known."""
    if fact.sample is not None:
        return f"sample {fact.sample}"
    return f"element {fact.element.index} of {fact.element.text}" if fact.element is not None else ""


def advice(fact: RaisedExpression, held: str) -> str:
    """The last sentence of the message."""
    where = f" where it is written ({at_line(fact.made)})" if fact.made is not None else ""
    if dict(fact.values).get(fact.suspect) == "None":
        return f"Find out why {fact.suspect} is None{where}"
    if held:
        return f"Mend {held}, leave it out where the data are listed, or let the line take it"
    return f"Look at {fact.suspect}{where}" if fact.suspect else "Look at these values, or at the call around them"
