"""What is said on stderr when a run is over: the verdict of its findings, or how many there are and where to read
them."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from debugtracer.errors import DebugTracerError
from debugtracer.trace.counted import counted
from debugtracer.trace.events import Incident
from debugtracer.trace.finding import Finding
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.verdict import Verdict
from debugtracer.views.view import diagnosed, findings, incidents
from debugtracer.views.words import wording


def tell_verdict(folder: Path) -> None:
    """Print the verdict and the number of notes on stderr, nothing where nothing was found. Raises nothing."""
    if sys.stderr is None:  # print() would take stdout, which is the program's
        return
    try:
        print(closing_words(folder, color=sys.stderr.isatty()), end="", file=sys.stderr, flush=True)
    except (OSError, ValueError, DebugTracerError) as error:
        with contextlib.suppress(OSError, ValueError):  # a terminal that is gone
            print(
                f"debug-tracer: {folder} cannot be read for its verdict ({error}); try `debug-tracer report {folder}`.",
                file=sys.stderr,
            )


def closing_words(folder: Path, *, color: bool = False) -> str:
    """The verdict of a run in which a check has found the fault, and how many notes there are; an incident has shown
    its own at the stop. Raises OSError, TraceError."""
    trace = open_trace(folder)
    told, every = incidents(trace), findings(trace)
    if told:
        return in_short(told) if len(trace.ranks) > 1 else ""
    found = [finding for finding in every if finding.severity != "note"]
    return loud(found, diagnosed(trace), folder, color) + noted(
        len([one for one in every if one.severity == "note"]), folder
    )


def noted(number: int, folder: Path) -> str:
    """Return one line that counts the notes, which are not told while the run goes on; empty without any."""
    words = f"debug-tracer: {counted(number, 'note')}; see: debug-tracer report {wording.path(folder)}\n"
    return words if number else ""


def loud(found: list[Finding], tried: list[Verdict], folder: Path, color: bool) -> str:
    """The verdict of findings above a note, or their number; empty without any."""
    if not found:
        return ""
    # brings rich along: the supervisor of a run without findings needs none
    from debugtracer.views.terminal import render_leading

    return render_leading(found, folder, tried, color=color) or summed_up(found, folder)


def in_short(told: list[Incident]) -> str:
    """Return one line on what a rank has printed at length: launchers print much after it."""
    said = list(dict.fromkeys(incident.verdict.summary for incident in told if incident.verdict is not None))
    more = f" (and {counted(len(said) - 1, 'verdict')} more)" if len(said) > 1 else ""
    return f"debug-tracer: {said[0]}{more}\n" if said else ""


def summed_up(found: list[Finding], folder: Path) -> str:
    """Return one line for findings of which none is a diagnosis."""
    numbers = {word: sum(finding.severity == word for finding in found) for word in ("error", "warning")}
    told = ", ".join(counted(number, word) for word, number in numbers.items() if number)
    return f"debug-tracer: {told}; see: debug-tracer report {wording.path(folder)}\n"
