"""Reads the expression that the program died of, once, after the fact."""

from __future__ import annotations

import ast
from types import ModuleType
from typing import Any

from debugtracer.callsites.crash_site import CrashSite, site_of, worker_frames
from debugtracer.callsites.data_lines import named_files, record_line
from debugtracer.callsites.element_in_hand import element_in_hand
from debugtracer.callsites.failing_expression import (
    FailingExpression,
    failing_expression,
    in_words,
    is_plain,
    known_value,
)
from debugtracer.callsites.file_in_hand import files_in_hand, line_in_hand
from debugtracer.callsites.origins.none_origin import Condition, NoneOrigin, none_origin
from debugtracer.callsites.origins.setting_origin import written
from debugtracer.callsites.origins.value_origin import Use, origin, scope_at, written_at
from debugtracer.errors import guarded
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.observers.program.outside_record import in_whole, names_of
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.raised_expression import ConditionSeen, ElementSeen, RaisedExpression
from debugtracer.trace.plain_text import plain_text
from debugtracer.trace.step import StepRef

MOST_VALUES = 6  # names that are told (ours)
LONGEST = 200  # characters of the exception's text
LONGEST_NAME = 64  # characters of a text that is looked for in the files (ours)
NOT_CALLABLE = "'NoneType' object is not callable"
MOST_SAMPLES = 256  # made once more after a worker's failure (ours)


class RaisedExpressionObserver(Observer):
    """The program is over: what is read here costs nobody."""

    def crashed(self, error: BaseException) -> None:
        """Emit the expression; nothing where no line of the program is in the traceback."""
        site = site_of(error)
        fetching = site.iterator is not None
        sample = site.sample if fetching else None
        if fetching and worker_frames(str(error)):
            sample, error = self.made_again(error)
        failing = failing_expression(error)
        if failing is None:
            return
        if sample is None:
            sample = guarded("raised_expression.collated")(collated)(site, failing)
        files = guarded("raised_expression.files")(files_in_hand)(error)
        files = files or guarded("raised_expression.names")(name_of_sample)(site, sample)
        self.run.emit(expression_seen(crash_ref(self.run, fetching), error, failing, sample, files or ()))

    def made_again(self, error: BaseException) -> tuple[int | None, BaseException]:
        """The first sample of the batch that a worker failed at which cannot be made here either, with its exception;
        the worker's own where all can, or another one is raised."""
        info, drawn = self.run.batches.failed or (None, None)
        dataset: Any = info.dataset_held() if info is not None else None
        for index in drawn[:MOST_SAMPLES] if isinstance(drawn, (tuple, list)) and dataset is not None else ():
            try:
                dataset[index]
            except Exception as again:
                same = type(again).__name__ == type(error).__name__ and type(index) is int
                return (index, again) if same else (None, error)
        return None, error


def collated(site: CrashSite, failing: FailingExpression) -> int | None:
    """The dataset index of the sample in hand, where the line went through one entry for each sample of a batch."""
    element = element_in_hand(failing) if site.samples is not None and site.indices is not None else None
    if element is None or site.indices is None or element.length != len(site.indices):
        return None
    return site.indices[element.place]


def name_of_sample(site: CrashSite, sample: int | None) -> tuple[str, ...]:
    """What the dataset calls a sample that was fetched whole and not collated."""
    if sample is None or site.samples is None:
        return ()
    return tuple(names_of(*in_whole(getattr(site.iterator, "_dataset", None), sample), None)[:1])


def expression_seen(
    ref: StepRef, error: BaseException, failing: FailingExpression, sample: int | None, files: tuple[str, ...]
) -> RaisedExpression:
    """The fact: what stood there, what its names were, and which record was in hand."""
    given = dict(failing.given())
    suspect = blamed(failing, given, str(error))
    writer = written_at(origin(suspect, failing.frames)) if suspect else None
    nothing = guarded("raised_expression.none")(where_none)(failing, suspect) if given.get(suspect, 0) is None else None
    writer = nothing.frame if nothing is not None else writer
    element = element_in_hand(failing)
    set_to = guarded("raised_expression.setting")(number_set)(failing, given)
    if set_to is not None:
        suspect = set_to[0]
    if set_to is not None or (nothing is not None and nothing.set_where is not None and "." in suspect):
        sample = element = None  # the program set it before any record was read
    return RaisedExpression(
        ref=ref,
        error=type(error).__name__,
        message=(plain_text(str(error)).strip().splitlines() or [""])[0][:LONGEST],
        text=failing.text,
        frame=failing.frames[0],
        values=tuple((name, in_words(given[name])) for name in most_telling(given, suspect)),
        suspect=suspect,
        made=writer if writer != failing.frames[0] and set_to is None else None,
        setting=set_to[1] if set_to is not None else None,
        set_where=asked(nothing.set_where) if nothing is not None else None,
        used_where=asked(nothing.used_where) if nothing is not None else None,
        record=guarded("raised_expression.record")(line_of_text)(error, given.get(suspect)),
        files=files if sample is not None or element is not None else (),
        sample=sample,
        element=ElementSeen(*element) if element is not None else None,
        deliberate=failing.is_deliberate,
    )


def blamed(failing: FailingExpression, given: dict[str, object], message: str) -> str:
    """The name whose value the exception is about: one that is None where it says so, what an entry was asked by, else
    the only one there is."""
    if "NoneType" in message:
        called = failing.node.func if isinstance(failing.node, ast.Call) and message == NOT_CALLABLE else None
        if called is not None and known_value(called, failing.values)[0]:
            given[ast.unparse(called)] = None
        return next((name for name, value in given.items() if value is None), "")
    node = failing.node
    if isinstance(node, ast.Subscript):
        return next((name for part in ast.walk(node.slice) if (name := unparsed(part)) in given), "")
    return next(iter(given)) if len(given) == 1 else ""


def where_none(failing: FailingExpression, suspect: str) -> NoneOrigin | None:
    """Where the name that is None got it, and under which conditions it is set and used."""
    if not isinstance(failing.node, ast.expr):
        return None
    scope = scope_at(failing.program, failing.frames[0].line)
    return none_origin(Use(failing.program, scope, failing.node), suspect)


def asked(condition: Condition | None) -> ConditionSeen | None:
    """A condition as it is written down."""
    return ConditionSeen(*condition) if condition is not None else None


def number_set(failing: FailingExpression, given: dict[str, object]) -> tuple[str, Frame] | None:
    """The one attribute of an object whose number the expression was refused, and the line that sets it: all else in
    the expression is written out, so no record is at fault. None where it is set in more than one place."""
    node = failing.node
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and not failing.is_called(n) and n.id != "self"]
    loose = [n for n in names if not isinstance(failing.values.get(n.id), ModuleType)]
    if not isinstance(node, ast.Call) or loose or failing.is_deliberate:
        return None
    numbers = {name: value for name, value in given.items() if type(value) in (int, float)}
    if len(numbers) != 1 or any(name not in numbers and name != "self" for name in given):
        return None
    ((name, value),) = numbers.items()
    scope = scope_at(failing.program, failing.frames[0].line)
    held = Use(failing.program, scope, ast.parse(name, mode="eval").body, failing.frames[1:])
    lines = list(dict.fromkeys(written(held, failing.frames[0].line, float(str(value)))))
    return (name, lines[0]) if len(lines) == 1 else None


def line_of_text(error: BaseException, value: object) -> Frame | None:
    """The only line of the data files of the program on which a text stands that an expression was refused."""
    read = line_in_hand(error, value)
    if read is not None:
        return read
    if not isinstance(value, str) or not 1 < len(value) <= LONGEST_NAME:
        return None
    return record_line(named_files(error), (value,), None)


def most_telling(given: dict[str, object], suspect: str) -> list[str]:
    """The names that are told: the suspect, plain values, what has a length; other objects where there is nothing
    else."""
    plain = [name for name, value in given.items() if is_plain(value)]
    given = {name: value for name, value in given.items() if name != "self" or len(given) == 1}
    sized = [name for name, value in given.items() if name not in plain and hasattr(type(value), "__len__")]
    told = dict.fromkeys([*([suspect] if suspect else []), *plain, *sized])
    return list(told or given)[:MOST_VALUES]


def unparsed(node: ast.AST) -> str:
    """A name, attribute or entry as it is written; empty for anything else."""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""
