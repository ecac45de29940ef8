"""The end of a watched process: its own exception is recorded, and without a supervisor run.json is closed and the
folder named."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from types import FrameType, TracebackType

from debugtracer import session
from debugtracer.callsites.own_frames import hide
from debugtracer.errors import STOPPED, guarded
from debugtracer.hooks.hook import Patches
from debugtracer.trace.store.inventory import stopped_by_tracer
from debugtracer.trace.store.manifest import end_run, read_manifest
from debugtracer.views.closing import tell_verdict


class Ending:
    """Chains sys.excepthook; the traceback and the exit status are the program's."""

    def __init__(self, supervised: bool) -> None:
        self.supervised = supervised
        self.previous = sys.excepthook
        self.crash: BaseException | None = None
        self.interrupted = False

    def excepthook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """Record, then what was there before."""
        if not is_caught(trace):
            self.interrupted = kind is KeyboardInterrupt
            self.record(error)
        hide(error)
        self.previous(kind, error, trace)

    @guarded("ending.record")
    def record(self, error: BaseException) -> None:
        """Give the exception to the session, once; Ctrl-C is no crash."""
        current = session.active()
        if current is None or self.crash is not None:
            return
        if isinstance(error, Exception):
            self.crash = error
            current.crashed(error)
        elif self.interrupted:
            current.output.heartbeat.died(error)  # a rank that was told to go has not left the others on its own

    def at_exit(self) -> None:
        """Close ours at exit; after an uncaught Ctrl-C, restore that Python dies of SIGINT."""
        self.close()
        if self.interrupted:
            with contextlib.suppress(KeyboardInterrupt):
                # any exec() of ours has cleared the flag by which Python dies of SIGINT (130 in a shell)
                exec("raise KeyboardInterrupt")

    @guarded("ending.close")
    def close(self) -> None:
        """Record a crash that a later sys.excepthook hid from us, and name the folder when nobody else will."""
        hidden = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        if hidden is not None and not hasattr(sys, "ps1"):
            self.record(hidden)
        current = session.active()
        if current is None:
            return
        current.finished(self.interrupted)
        if not self.supervised:
            close_run(current, 1 if self.crash is not None else None)


def is_caught(trace: TracebackType | None) -> bool:
    """Whether the frame that an exception came up to still runs: the program shows one that it has caught, and goes
    on."""
    frame: FrameType | None = sys._getframe(1)
    while trace is not None and frame is not None:
        if frame is trace.tb_frame:
            return True
        frame = frame.f_back
    return False


@guarded("ending.close_run")
def close_run(ended: session.Session, code: int | None, quiet: bool = False) -> None:
    """Write the end into run.json, print the verdict and name the folder, if this process made it and nobody did so
    before."""
    folder = ended.output.folder
    if folder is None:
        return
    manifest = read_manifest(folder)
    if manifest.pid != os.getpid() or manifest.status == "ended":
        return
    stopped = stopped_by_tracer(folder)
    end_run(folder, STOPPED if stopped else code, stopped)
    if sys.stderr is not None and not quiet:
        tell_verdict(folder)
        print(f"debug-tracer: run folder {folder}", file=sys.stderr)


def install(supervised: bool) -> None:
    """Chain sys.excepthook and atexit, once."""
    if isinstance(getattr(sys.excepthook, "__self__", None), Ending):
        return
    ending = Ending(supervised)
    # never undone: it also records what dies after the session was stopped
    Patches().put(sys, "excepthook", ending.excepthook)
    atexit.register(ending.at_exit)
