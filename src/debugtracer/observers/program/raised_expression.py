"""Reads the expression that the program died of, once, after the fact."""

from __future__ import annotations

import ast
from typing import Any

from debugtracer.callsites.crash_site import site_of, worker_frames
from debugtracer.callsites.element_in_hand import element_in_hand
from debugtracer.callsites.failing_expression import FailingExpression, failing_expression, in_words, is_plain
from debugtracer.callsites.origins.value_origin import origin, written_at
from debugtracer.observers.observer import Observer
from debugtracer.observers.program.crash_ref import crash_ref
from debugtracer.trace.facts.raised_expression import ElementSeen, RaisedExpression
from debugtracer.trace.step import StepRef

MOST_VALUES = 6  # names that are told (ours)
LONGEST = 200  # characters of the exception's text
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
        if failing is not None:
            self.run.emit(expression_seen(crash_ref(self.run, fetching), error, failing, sample))

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


def expression_seen(
    ref: StepRef, error: BaseException, failing: FailingExpression, sample: int | None
) -> RaisedExpression:
    """The fact: what stood there, what its names were, and which record was in hand."""
    given = dict(failing.given())
    suspect = blamed(failing, given, str(error))
    writer = written_at(origin(suspect, failing.frames)) if suspect else None
    element = element_in_hand(failing)
    return RaisedExpression(
        ref=ref,
        error=type(error).__name__,
        message=(str(error).strip().splitlines() or [""])[0][:LONGEST],
        text=failing.text,
        frame=failing.frames[0],
        values=tuple((name, in_words(given[name])) for name in most_telling(given, suspect)),
        suspect=suspect,
        made=writer if writer != failing.frames[0] else None,
        sample=sample,
        element=ElementSeen(*element) if element is not None else None,
        deliberate=failing.is_deliberate,
    )


def blamed(failing: FailingExpression, given: dict[str, object], message: str) -> str:
    """The name whose value the exception is about: one that is None where it says so, what an entry was asked by, else
    the only one there is."""
    if "NoneType" in message:
        return next((name for name, value in given.items() if value is None), "")
    node = failing.node
    if isinstance(node, ast.Subscript):
        return next((name for part in ast.walk(node.slice) if (name := unparsed(part)) in given), "")
    return next(iter(given)) if len(given) == 1 else ""


def most_telling(given: dict[str, object], suspect: str) -> list[str]:
    """The names that are told: the suspect, plain values, what has a length; other objects where there is nothing
    else."""
    plain = [name for name, value in given.items() if is_plain(value)]
    sized = [name for name, value in given.items() if name not in plain and hasattr(type(value), "__len__")]
    told = dict.fromkeys([*([suspect] if suspect else []), *plain, *sized])
    return list(told or given)[:MOST_VALUES]


def unparsed(node: ast.AST) -> str:
    """A name, attribute or entry as it is written; empty for anything else."""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""
