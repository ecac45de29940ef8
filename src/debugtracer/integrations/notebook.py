"""`debugtracer.watch()`: the same watch from code or a notebook, also late, also as a context manager."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from types import TracebackType
from typing import Any

from debugtracer import session
from debugtracer.errors import DebugTracerError, guarded
from debugtracer.integrations import children, ending
from debugtracer.integrations.cells import Cells, attached
from debugtracer.integrations.page_widget import HEIGHT, page_widget
from debugtracer.settings import Settings
from debugtracer.trace.verdict import Verdict
from debugtracer.views.run_status import RunStatus, run_status

_given: weakref.WeakKeyDictionary[Cells, NotebookWatch] = weakref.WeakKeyDictionary()
"""What watch() has given in a notebook; nothing where the environment switched us on."""


class NotebookWatch:
    """A session begun from code. `stop()` restores everything that was patched; leaving the with block does the same. A
    notebook shows how the run stands."""

    def __init__(self, running: session.Session, mine: bool) -> None:
        self.session = running
        self.mine = mine
        """False when the process was under watch before: then stop() leaves it so."""
        self.cells: Cells | None = attached(running)
        """Set in a notebook."""

    @property
    def run(self) -> Path | None:
        """The folder of the run that trains, else of the last one; None before the first backward."""
        return self.session.output.folder or (self.cells.last if self.cells is not None else None)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of that run as far as it has come, None while there is none. Reads the run folder."""
        return self.status().verdict

    def status(self) -> RunStatus:
        """How the run stands. Reads the run folder."""
        self.session.write_counters()
        return run_status(self.run, self.session.settings.mode.value, watching=session.active() is self.session)

    def page(self, height: int = HEIGHT) -> Any:
        """The whole page of that run for the output of a cell; its `refresh()` reads the run again. Raises UsageError
        without anywidget or before the first backward."""
        self.session.write_counters()
        return page_widget(self.run, height)

    @guarded("integrations.notebook: told")
    def told(self, framework: str, values: dict[str, object]) -> None:
        """Note how a framework is set, for `debug-tracer doctor` and the report."""
        self.session.output.note(
            framework, ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)
        )

    def stop(self) -> None:
        """Stop watching and close the run folder. Safe to call again."""
        if self.mine and session.active() is self.session:
            session.stop()
            if self.cells is not None:
                _given.pop(self.cells, None)
                self.cells.close(None)
                self.cells.detach()
            else:
                ending.close_run(self.session, None)

    def __enter__(self) -> NotebookWatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and self.mine:
            self.session.crashed(error)
        self.stop()

    def __repr__(self) -> str:
        return self.shown().text.partition("\n")[0]

    def _repr_html_(self) -> str:
        return self.shown().html

    def _repr_mimebundle_(self, **wanted: object) -> dict[str, str]:
        shown = self.shown()
        return {"text/plain": shown.text, "text/html": shown.html}

    def shown(self) -> RunStatus:
        """How the run stands; a run folder that cannot be read is reported in one line."""
        try:
            return self.status()
        except (OSError, DebugTracerError) as error:
            return RunStatus.unread(self.run, error)


def watch(**settings: object) -> NotebookWatch:
    """Start watching this process from here on; keywords are the fields of Settings and win over DEBUG_TRACER_*
    variables.

    The usual ones with their defaults:

    out="debug-tracer-runs"   folder of runs
    name=""                   name of this run; date and program when empty
    mode="dev"                dev stops at the first bad step (status 3; a notebook: the cell ends), observe reports
    capture="step"            step keeps what a replay needs, canary only the numbers
    preset="default"          options of the checks: default, or seed (the thresholds of the articles)
    inspect_steps=100         steps between two close looks, after the first three; 0: none
    function_tests="on"       a few extra forwards on a shadow copy at the first step; off: none
    incidents=5               incidents replayed per rank at most

    `stop()` on what it gives, or leaving its with block, ends the watch. A second call gives the session that runs; in
    a notebook it gives the same object, and one with other keywords ends the run and begins another. Raises UsageError
    naming a wrong setting. No host sync."""
    running = session.active()
    if running is not None:
        given = attached(running)
        earlier = _given.get(given) if given is not None else None
        if earlier is None:
            return NotebookWatch(running, mine=False)
        if same(settings, running.settings):
            return earlier
        earlier.stop()
    chosen = Settings.from_env(os.environ, **settings)
    begun = session.start(chosen)
    children.install()
    ending.install(supervised=chosen.run_dir is not None)
    watch = NotebookWatch(begun, mine=True)
    if watch.cells is not None:
        _given[watch.cells] = watch
    return watch


def same(asked: dict[str, object], running: Settings) -> bool:
    """Whether the keywords of a second call are those that run already."""
    chosen = Settings.from_env(os.environ, **asked)
    return all(getattr(chosen, name) == getattr(running, name) for name in asked)


def joined(**settings: object) -> NotebookWatch:
    """Return the watch of a framework's callback: its own, or that of the process, which its stop() leaves running."""
    running = session.active()
    return NotebookWatch(running, mine=False) if running is not None else watch(**settings)
