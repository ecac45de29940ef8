"""What can go wrong on our side: the exceptions we raise, and the safety net that keeps our failures out of the user's
run."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

DEVICE_DIED = "device-side assert"
"""What CUDA says of an index outside its range, at every call from the first wait on: the line of the traceback need
not be the guilty one."""

STOPPED = 3  # exit status of a run that debug-tracer stopped (docs/rationale/contracts.md#exit-status)


class DebugTracerError(Exception):
    """Base of every error we raise on purpose; its text is one sentence a tired person can act on."""


class UsageError(DebugTracerError):
    """The command line or a setting is wrong; commands end with status 2."""


class TraceError(DebugTracerError):
    """A run folder or one of its files cannot be read."""


class CapsuleError(DebugTracerError):
    """An incident folder cannot be replayed: unknown version, missing or truncated file, opaque operator."""


class ReplayRefused(DebugTracerError):
    """The recorded step cannot be executed again by this mechanism; the next one in the fallback order is tried."""


class ResumeRefused(SystemExit):
    """The end of a program that was to go on from a saved state which does not fit it: trained from nothing it would
    look as if it had. Its status is 2."""

    def __init__(self, why: str) -> None:
        print(f"debug-tracer: resume: {why}.", file=sys.stderr, flush=True)
        super().__init__(2)


class StoppedByTracer(SystemExit):
    """The stop of mode dev. A SystemExit, so that `except Exception: continue` in the user's loop does not swallow
    it."""

    def __init__(self) -> None:
        super().__init__(STOPPED)


class StoppedCell(BaseException):
    """The same stop in a notebook, where SystemExit is a remark on how to leave the shell. No Exception either, for the
    same reason."""

    TOLD = (
        "debug-tracer stopped this cell, its verdict stands above. The kernel goes on: mend the line and run the cell "
        "again; that is a new run."
    )

    def __init__(self) -> None:
        super().__init__(self.TOLD)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return [self.TOLD]


@dataclass
class Failure:
    """One place of ours that failed, how often, and the first traceback."""

    where: str
    count: int
    first: str


failures: dict[str, Failure] = {}


def strict() -> bool:
    """True in our own tests: what the guard would swallow is raised instead."""
    return bool(os.environ.get("DEBUG_TRACER_STRICT"))


def swallow(where: str, error: BaseException) -> None:
    """Count a failure of ours instead of passing it to the user; re-raised under DEBUG_TRACER_STRICT=1.

    Where a kernel of the program's has stopped its device, whoever waits next hears of it: that is none of ours, and
    the program hears it at its own next call."""
    if DEVICE_DIED in str(error):
        return
    if strict():
        raise error
    known = failures.get(where)
    if known is not None:
        known.count += 1
        return
    failures[where] = Failure(where, 1, "".join(traceback.format_exception(error)))
    print(
        f"debug-tracer: {where} failed ({type(error).__name__}: {error}); training goes on without it. `debug-tracer "
        "doctor RUN` shows details.",
        file=sys.stderr,
    )


def guarded(where: str) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """Decorate a hook body, so that its failure is counted and never reaches the program. Never wrap the user's own
    call."""

    def wrap(function: Callable[P, R]) -> Callable[P, R | None]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R | None:
            try:
                return function(*args, **kwargs)
            except StoppedByTracer:
                raise
            except Exception as error:
                swallow(where, error)
                return None

        return call

    return wrap
