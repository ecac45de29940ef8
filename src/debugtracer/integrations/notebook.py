"""`debugtracer.watch()`: the same watch from code or a notebook, also late, also as a context manager."""

from __future__ import annotations

import os
from types import TracebackType

from debugtracer import session
from debugtracer.integrations import children, ending
from debugtracer.settings import Settings


class Watch:
    """A session begun from code. `stop()` restores everything that was patched; leaving the with block does the same."""

    def __init__(self, running: session.Session, mine: bool) -> None:
        self.session = running
        self.mine = mine
        """False when the process was under watch before: then stop() leaves it so."""

    def stop(self) -> None:
        """Stop watching and close the run folder. Safe to call again."""
        if self.mine and session.active() is self.session:
            session.stop()
            ending.close_run(self.session, None)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and self.mine:
            self.session.crashed(error)
        self.stop()


def watch(**settings: object) -> Watch:
    """Start watching this process from here on; keywords are the fields of Settings and win over DEBUG_TRACER_* variables.

    The usual ones with their defaults:

    out="debug-tracer-runs"   folder of runs
    name=""                   name of this run; date and program when empty
    mode="dev"                dev stops at the first bad step (status 3), observe only reports
    capture="step"            step keeps what a replay needs, canary only the numbers
    preset="default"          options of the checks: default, or seed (the thresholds of the articles)
    inspect_steps=100         steps between two close looks, after the first three; 0: none
    function_tests="on"       a few extra forwards on a shadow copy at the first step; off: none
    incidents=5               incidents replayed per rank at most

    `stop()` on what it gives, or leaving its with block, ends the watch. A second call gives the session that runs. Raises UsageError naming a wrong
    setting. No host sync."""
    running = session.active()
    if running is not None:
        return Watch(running, mine=False)
    chosen = Settings.from_env(os.environ, **settings)
    begun = session.start(chosen)
    children.install()
    ending.install(supervised=chosen.run_dir is not None)
    return Watch(begun, mine=True)
