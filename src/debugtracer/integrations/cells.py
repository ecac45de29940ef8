"""Training in the cells of a notebook: a run ends where its cell is stopped, interrupted or fails, and its verdict
stands in the output of the cell."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from debugtracer.callsites.frames import read_again
from debugtracer.callsites.notebook_cells import ran
from debugtracer.callsites.notebook_cells import shell as shell_here
from debugtracer.callsites.own_frames import hide
from debugtracer.diagnosis.incident_writer import OnStderr, VerdictDisplay
from debugtracer.errors import DebugTracerError, StoppedCell, guarded
from debugtracer.hooks.hook import Patches
from debugtracer.integrations import ending
from debugtracer.session import Session
from debugtracer.trace.incident import IncidentFacts
from debugtracer.trace.verdict import Verdict
from debugtracer.views.card import told_card, verdict_card
from debugtracer.views.run_status import run_status
from debugtracer.views.terminal import render_verdict
from debugtracer.views.view import ALARMS


class Cells(VerdictDisplay):
    """Listens to IPython's shell while a session runs, and shows verdicts in the output of the cell."""

    stopped = StoppedCell

    def __init__(self, session: Session, shell: Any) -> None:
        self.session, self.shell = session, shell
        self.pid = os.getpid()
        self.patches = Patches()
        self.began = (0, 0)
        self.last: Path | None = None
        """Folder of the run that ended before this one."""

    def attach(self) -> None:
        """Listen to cells, and show verdicts in their output."""
        self.shell.events.register("pre_run_cell", self.before)
        self.shell.events.register("post_run_cell", self.after)
        self.patches.wrap(self.shell, "showtraceback", self.without_us)
        self.session.show_on(self)
        self.mark()

    def detach(self) -> None:
        """Restore the shell and the session as they were before."""
        for name, listener in (("pre_run_cell", self.before), ("post_run_cell", self.after)):
            if listener in self.shell.events.callbacks[name]:
                self.shell.events.unregister(name, listener)
        self.patches.undo()
        self.session.show_on(OnStderr())

    @guarded("cells.before")
    def before(self, info: Any = None) -> None:
        """Called when a cell begins."""
        read_again()
        self.mark()

    def mark(self) -> None:
        """Remember where training stands, to know afterwards whether a cell trained."""
        self.began = self.reached()

    def reached(self) -> tuple[int, int]:
        """The backward calls so far, and the tape as far as it is written."""
        segment = self.session.tape.current
        return self.session.state.iteration, segment.number * 1_000_000 + len(segment.entries)

    @guarded("cells.after")
    def after(self, result: Any) -> None:
        """Called when a cell has ended; one that trained and failed ends the run."""
        ran(getattr(result, "execution_count", None), getattr(getattr(result, "info", None), "cell_id", None))
        error = getattr(result, "error_in_exec", None)
        if (
            error is None
            or os.getpid() != self.pid
            or (self.reached() == self.began and self.session.state.open_root.module is None)
        ):
            return
        if isinstance(error, Exception):
            self.session.crashed(error)
        self.end(1 if isinstance(error, Exception) else None)

    def end(self, code: int | None) -> None:
        """Close the run; the next training is another one. A run folder that a supervisor made is kept to the end."""
        if self.session.run_folder.supervised:
            self.session.settle()
            return
        self.session.finished()
        self.close(code)
        self.session.anew()

    def close(self, code: int | None) -> None:
        """Close the run folder; a verdict that comes from the findings of the run is shown now, an incident has shown
        its own."""
        folder = self.session.output.folder
        if folder is None:
            return
        self.last = folder
        ending.close_run(self.session, code, quiet=True)
        status = run_status(folder, self.session.settings.mode.value, watching=False)
        if status.verdict is not None and status.verdict.symptom not in ALARMS:
            self.publish(status.text, status.html)

    def show(self, facts: IncidentFacts, verdict: Verdict, run: Path, incident: Path | None) -> None:
        """Show a verdict in the output of the cell; as text on stderr where there is no page to show it on."""
        self.publish(render_verdict(facts, verdict, run, incident), verdict_card(facts, verdict, run, incident))

    def publish(self, text: str, html: str) -> None:
        """Publish text and HTML where a front end shows HTML, else the text on stderr."""
        if os.getpid() == self.pid and getattr(self.shell, "kernel", None) is not None:
            self.shell.display_pub.publish(data={"text/plain": text, "text/html": html})
        else:
            print(text, file=sys.stderr, flush=True)

    def without_us(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap IPython's showtraceback: our frames are taken out of a traceback first, as from that of a script."""

        def showtraceback(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() == self.pid:
                hide(sys.exc_info()[1])
            return original(*args, **kwargs)

        return showtraceback


def attached(session: Session) -> Cells | None:
    """Listen for this session if the process is a notebook or an IPython terminal. Once a session."""
    shell = shell_here()
    if shell is None:
        return None
    found = next((owner for owner in listeners(shell) if owner.session is session), None)
    if found is not None:
        return found
    cells = Cells(session, shell)
    try:
        cells.attach()
        shell.display_formatter.formatters["text/html"].for_type(Verdict, told_card)
    except (AttributeError, KeyError) as error:
        raise DebugTracerError(f"this IPython has no {error}; cells are not told apart") from None
    return cells


def listeners(shell: Any) -> list[Cells]:
    """The Cells of ours that listen to this shell."""
    heard = getattr(getattr(shell, "events", None), "callbacks", {}).get("post_run_cell", [])
    return [owner for listener in heard if isinstance(owner := getattr(listener, "__self__", None), Cells)]
