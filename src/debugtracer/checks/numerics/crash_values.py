"""Of which values did the program die, where no other check knows the exception?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import Crash, FormSeen, first_difference
from debugtracer.trace.facts.raised_expression import RaisedExpression
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

UNREADABLE = "record_unreadable"
"""The class where it is known which record the line could not take."""
UNFIT = "value_unfit"
"""The class where the program itself gave a name the value that the line could not take."""
KNOWN_VALUE = 0.8  # of that class: where it is set is read from the source (ours)
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
        around the expression was at, where it is one object of a list; in a collate function that goes through one
        entry for each sample of the batch, the sample of that entry. The files that the innermost function holds under
        names of its own are told with it. Where a text file is gone through line by line and only one line reads as the
        one refused, that line is the record. A sample that a worker could not make is made
        once more by the process that trains, which is over. What a program raises by its own `raise` or `assert` speaks
        for itself and is told with its sample only. A number that only the program sets, in its source, an option or a
        settings file, is told with that line; an attribute that is None with the condition under which it is set and
        the one under which it is used. Silent where another check has explained the exception.
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

    alternatives: ClassVar[tuple[str, ...]] = (
        "set it to a value that the line takes, where it is written",
        "ask for the value before the line that uses it, under the condition under which it is set",
    )
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
            f"; {name} is {words}{source(fact) if name == fact.suspect else ''}" for name, words in fact.values
        )
        said = f": {fact.message.rstrip('.')}" if fact.message else ""
        held = record(fact)
        line = fact.setting or guarded_line(fact) or text_line(fact)
        found = self.finding(
            window,
            "error",
            f"`{fact.text}`{spot(fact.frame)} raised {fact.error}{said}{held and f', at {held}'}{known}"
            f"{first_difference(form)}; expected {expected(fact)}. {advice(fact, held)}.",
            ref=fact.ref,
            kind=UNFIT if is_own(fact) else UNREADABLE if held else None,
            confidence=KNOWN_VALUE if is_own(fact) else KNOWN_RECORD if held else None,
            remedies=self.alternatives if is_own(fact) else (),
            place=Place(
                frame=(form.frame if form is not None else None) or line or fact.frame,
                symptom_frame=fact.frame,
                sample_index=(fact.row,) if fact.row is not None else None,
            ),
        )
        return msgspec.structs.replace(found, layer="data") if found.kind == UNREADABLE else found


def is_own(fact: RaisedExpression) -> bool:
    """Whether it is known where the program itself gave the suspect its value."""
    return fact.setting is not None or (fact.set_where is not None and fact.row is None)


def guarded_line(fact: RaisedExpression) -> Frame | None:
    """The `if` around a use of what is None, where another one sets it: to the reader it is the line to change."""
    return fact.used_where.frame if fact.used_where is not None and is_own(fact) else None


def text_line(fact: RaisedExpression) -> Frame | None:
    """The line of the data file that was being read, where no dataset or list was gone through: it is what to edit."""
    return fact.record if fact.row is None and not is_own(fact) else None


def source(fact: RaisedExpression) -> str:
    """Where the suspect got its value, and when it would get another, in words."""
    if fact.setting is not None:
        return f", set at {file_line(fact.setting)} (`{fact.setting.code}`)"
    made = f", from {file_line(fact.made)}" if fact.made is not None else ""
    if fact.set_where is None:
        return made
    used = fact.used_where
    when = f"where `{used.text}` ({file_line(used.frame)})" if used is not None else "in any case"
    return f"{made}, set only where `{fact.set_where.text}` ({file_line(fact.set_where.frame)}) and used {when}"


def expected(fact: RaisedExpression) -> str:
    """What the message calls right."""
    if fact.setting is not None:
        return "a number that this line can take"
    return "it to be used only where it is set" if fact.set_where else "a line that takes every value it is given"


def record(fact: RaisedExpression, shown: bool = True) -> str:
    """The sample or element that was in hand, with its line of the data file, in words; empty where none is known."""
    text = f": `{fact.record.code}`" if fact.record is not None and shown else ""
    at = f" ({file_line(fact.record)}{text})" if fact.record is not None else ""
    at = at or (f" ({' and '.join(fact.files)})" if fact.files else "")
    if fact.sample is not None:
        return f"sample {fact.sample}{at}"
    if fact.element is not None:
        return f"element {fact.element.index} of {fact.element.text}{at}"
    return f"{file_line(fact.record)}{text}" if fact.record is not None else ""


def advice(fact: RaisedExpression, held: str) -> str:
    """The last sentence of the message."""
    where = f" where it is written ({file_line(fact.made)})" if fact.made is not None else ""
    if fact.setting is not None:
        value = dict(fact.values).get(fact.suspect, "it")
        line = file_line(fact.frame)
        return f"Change {fact.suspect} at {file_line(fact.setting)}, or do without {line} where it is {value}"
    if fact.set_where is not None and fact.used_where is not None:
        return f"Let both ask the same: `{fact.suspect} is not None` at {file_line(fact.used_where.frame)}"
    if fact.set_where is not None:
        return f"Ask `{fact.suspect} is not None` at {file_line(fact.frame)}, or set it in any case"
    if dict(fact.values).get(fact.suspect) == "None":
        return f"Find out why {fact.suspect} is None{where}"
    if held:
        return f"Mend {record(fact, shown=False)}, leave it out where the data are listed, or let the line take it"
    return f"Look at {fact.suspect}{where}" if fact.suspect else "Look at these values, or at the call around them"
