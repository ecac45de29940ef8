"""Was a graph used twice?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class GraphFreed(Check, frozen=True):
    """A second backward through a graph that the first one has freed.

    What it catches
        A hidden state or a running loss carried from step to step without detach(), backward() called twice on one
        loss, one part of a model shared by two losses.
    Why it matters
        torch raises; retain_graph=True would silence it and, for a carried state, keep every earlier step in memory.
    How it decides
        The exception says so. From the second iteration on, something of an earlier step is most often still attached
        to the graph: the line is the one of the loop that writes a tensor with a graph after the loop has read it.
    What to do
        Detach what is carried from step to step; add losses that share a graph and call backward once.
    Example
        step 1, rank 0: backward (train.py:31) went into a graph that an earlier backward has freed; expected a graph
        built in this step. Detach what is carried over from the step before.
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "graph_freed"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "detach what is carried from step to step: hidden = hidden.detach()",
        "add losses that share a graph and call backward once",
        "retain_graph=True only where two backward calls of one step share a graph",
    )
    proved_by: ClassVar[str] = "model/carried_state"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of a second backward."""
        for crash in window.new(Crash):
            if crash.message.startswith("Trying to backward through the graph a second time"):
                yield self.finding(
                    window,
                    "error",
                    f"backward{spot(crash.call)} went into a graph that an earlier backward has freed{by(crash)}; "
                    "expected a graph built in this step. "
                    "Detach what is carried over from the step before.",
                    ref=crash.ref,
                    place=Place(frame=crash.carried or crash.call, symptom_frame=crash.call),
                )


def by(crash: Crash) -> str:
    """The line that carries it over, where the loop shows one."""
    if crash.carried is None:
        return ""
    return f"; {file_line(crash.carried)} carries it over"
