"""Starts the session in a process that has just imported torch, unless the process only launches others."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator
from pathlib import Path
from time import thread_time

from debugtracer.errors import UsageError, guarded
from debugtracer.integrations.first_imports import imports_alone
from debugtracer.source.uncollected import uncollected

LAUNCHERS = {"torchrun", "accelerate", "accelerate-launch", "deepspeed", "debug-tracer", "pip", "pip3"}
LAUNCHER_MODULES = {
    "torch.distributed.run",
    "torch.distributed.launch",
    "accelerate.commands.launch",
    "debugtracer",
    "pip",
}
WITH_VALUE = {"-W", "-X", "--check-hash-based-pycs"}  # options of python that take the next word


@guarded("begin")
def begin() -> None:
    """Start watching this process, once; a bad setting is one line on stderr and the program goes on."""
    if is_launcher(sys.orig_argv[1:]):
        return
    with made_old():
        start()


@contextlib.contextmanager
def made_old() -> Iterator[None]:
    """Collect no garbage inside: our imports make little. What they made counts as old at once, as torch's own: else
    the collector would go through everything in one of the first steps. Where the program has only imported so far
    the collector never goes through it again (docs/rationale/performance.md#collector)."""
    with uncollected() as collects:
        try:
            yield
        finally:
            if collects and not gc.get_freeze_count():  # what the program froze stays so
                gc.freeze()
                if not imports_alone():
                    gc.unfreeze()


def start() -> None:
    """Import the session and install it with what watches children and the end; the time that takes is counted."""
    began = thread_time()
    from debugtracer import session
    from debugtracer.callsites.notebook_cells import shell
    from debugtracer.integrations import children, ending
    from debugtracer.settings import Settings

    if session.active() is not None:
        return
    try:
        settings = Settings.from_env()
        running = session.start(settings)
    except UsageError as error:
        print(f"debug-tracer: {error}; this process is not watched.", file=sys.stderr)
        return
    children.install()
    ending.install(supervised=settings.run_dir is not None)
    if shell() is not None:  # what draws in a notebook is dear to import and of no use elsewhere
        from debugtracer.integrations import cells

        cells.attached(running)
    running.state.started(thread_time() - began)


def is_launcher(words: list[str]) -> bool:
    """Whether these arguments of python run a program that starts training in other processes and never trains
    itself."""
    rest = iter(words)
    for word in rest:
        if word in WITH_VALUE:
            next(rest, None)
        elif word.startswith("-m"):
            module = word[2:] or next(rest, "")
            return module in LAUNCHER_MODULES
        elif word == "-c":
            return False
        elif not word.startswith("-"):
            return Path(word).name in LAUNCHERS
    return False
