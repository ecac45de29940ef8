"""The run folder of this process: the one its supervisor made, or one of its own, which ranks started from here
join."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from debugtracer.recorder.output.claim import launch, shared_run
from debugtracer.trace.store.manifest import create_run

RUN_DIR = "DEBUG_TRACER_RUN_DIR"  # names the folder to processes started from here


class RunFolder:
    """Made when it is first asked for."""

    def __init__(self, given: Path | None, out: Path, name: str, mode: str) -> None:
        self.given, self.out, self.name, self.mode = given, out, name, mode
        self.made: Path | None = None
        """One of our own; the environment names it."""

    @property
    def supervised(self) -> bool:
        """Whether a supervisor made the folder, which is then not ours to close."""
        return self.given is not None

    def find(self) -> Path:
        """The supervisor's, or one that all ranks of a launch share. Raises OSError."""
        if self.given is not None:
            return self.given
        if self.made is None:
            launched = launch()
            make = functools.partial(create_run, self.out, self.name, [sys.executable, *sys.orig_argv[1:]], self.mode)
            self.made = shared_run(self.out, launched, make) if launched else make()
            os.environ[RUN_DIR] = str(self.made)
        return self.made

    def leave(self) -> None:
        """Release the folder when the run is over: a later one makes a folder of its own."""
        if self.made is not None:
            os.environ.pop(RUN_DIR, None)
            self.made = None
