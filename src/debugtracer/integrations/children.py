"""Processes made by the program: forks start from nothing, ranks of multiprocessing are recorded, loader workers are
left alone."""

from __future__ import annotations

import functools
import multiprocessing.process
import multiprocessing.util
import os
from collections.abc import Callable
from typing import Any

from debugtracer import session
from debugtracer.callsites.own_frames import hide
from debugtracer.errors import guarded
from debugtracer.hooks.hook import Patches

installed = False


def install() -> None:
    """Watch forks and multiprocessing, once per process family (a forked child inherits it)."""
    global installed
    if installed:
        return
    installed = True
    os.register_at_fork(before=before_fork, after_in_child=in_child)
    wrap_bootstrap()
    if multiprocessing.process.parent_process() is not None:  # torch came late, inside run(): only a finalizer is left
        multiprocessing.util.Finalize(None, finish, exitpriority=0)


@guarded("children.before_fork")
def before_fork() -> None:
    """Flush everything to disk, so that the child inherits nothing unwritten."""
    current = session.active()
    if current is not None:
        current.at_fork_before()


@guarded("children.in_child")
def in_child() -> None:
    """Forget the files, threads and steps of the parent; called in the child."""
    current = session.active()
    if current is not None:
        current.at_fork_child()


def wrap_bootstrap() -> None:
    """Have each multiprocessing child record its end; its own atexit and sys.excepthook never run. `run` may be
    overridden, so the instance is wrapped."""
    process: Any = multiprocessing.process.BaseProcess
    bootstrap = process._bootstrap

    @functools.wraps(bootstrap)
    def _bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        watch_run(self)
        return bootstrap(self, *args, **kwargs)

    Patches().put(process, "_bootstrap", _bootstrap)  # never undone: a child of a child is watched too


@guarded("children.watch_run")
def watch_run(process: Any) -> None:
    """Put the recording run before the process's own; a loader worker is not watched at all."""
    if is_loader_worker(process):
        session.stop()
        return
    Patches().put(process, "run", recording(process.run))


def is_loader_worker(process: Any) -> bool:
    """Whether this process will run torch's loop of a DataLoader worker."""
    target = getattr(process, "_target", None)
    return getattr(target, "__module__", "") == "torch.utils.data._utils.worker"


def recording(run: Callable[[], Any]) -> Callable[[], Any]:
    """Wrap `run` so that its exception is recorded and passed on as it is, and its end is written."""

    @functools.wraps(run)
    def recorded() -> Any:
        try:
            return run()
        except BaseException as error:
            crash(error)
            raise
        finally:
            finish()

    return recorded


@guarded("children.crash")
def crash(error: BaseException) -> None:
    """Record the exception; torch.multiprocessing.spawn turns it into SystemExit(1), whose context it is."""
    cause = error.__context__ if isinstance(error, SystemExit) else error
    current = session.active()
    if current is not None and isinstance(cause, Exception):
        current.crashed(cause)
        hide(cause)


@guarded("children.finish")
def finish() -> None:
    """Write the last counters of this process."""
    current = session.active()
    if current is not None:
        current.finished()
