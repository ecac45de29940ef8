"""Reads each loaded checkpoint file once more beside the training, for torch.load compares no checksum."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import IO, Any

import torch
from torch.optim import Optimizer
from torch.utils.data import get_worker_info

from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.observers.checkpoint.archive import RecordDamage, damage_of, mark_of
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.step import StepRef

MOST_FILES = 16  # files looked at per process: a data set of .pt files is not read twice (ours)
MOST_BYTES = 8 << 30  # bytes of one file looked at; some 10 s of one core (ours)
PATIENCE_S = 5.0  # seconds that the end of a run waits for a file still being read (ours)


class FileCheck:
    """One file that a thread of ours reads; it was opened when it was loaded, so a file put in its place is another
    one."""

    def __init__(self, file: IO[bytes], path: str, ref: StepRef, loaded: bool, frame: Frame | None) -> None:
        self.file, self.path, self.ref, self.loaded, self.frame = file, path, ref, loaded, frame
        self.mark = mark_of(file)
        self.damage: RecordDamage | None = None
        self.thread = threading.Thread(target=self.read, name="debug-tracer-checkpoint", daemon=True)
        self.thread.start()

    def read(self) -> None:
        """Read the file in a thread; one that is written meanwhile or cannot be read yields nothing."""
        try:
            with self.file:
                damage = damage_of(self.file, MOST_BYTES)
                if damage is not None and mark_of(self.file) == self.mark:
                    self.damage = damage
        except (OSError, ValueError):
            return

    def fact(self, damage: RecordDamage) -> DamagedFile:
        """Build the fact of a damaged file."""
        return DamagedFile(
            ref=self.ref,
            path=self.path,
            size_bytes=self.mark[0],
            damaged=damage.records[:8],
            count=len(damage.records),
            records=damage.of,
            tensors=damage.tensors[:8],
            cut=damage.cut,
            loaded=self.loaded,
            frame=self.frame,
        )


class CheckpointFileObserver(Observer):
    """Wraps torch.load. The training thread opens the file and goes on."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.looks: list[FileCheck] = []
        self.seen: set[tuple[str, int, int]] = set()

    def install(self) -> None:
        """Patch torch.load under its two names."""
        self.calls.off = False
        made = self.loading(torch.load)
        self.calls.patches.put(torch, "load", made)
        self.calls.patches.put(torch.serialization, "load", made)

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        """Reset to an empty state; the threads stayed with the parent."""
        self.looks.clear()
        self.seen.clear()

    def loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap torch.load to read its file once more."""

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            loaded = False
            try:
                result = original(*args, **kwargs)
                loaded = True
            finally:
                if not self.calls.off:
                    guarded("observers.checkpoint.checkpoint_file")(self.on_load)(
                        args[0] if args else kwargs.get("f"), loaded
                    )
            return result

        return load

    def on_load(self, source: Any, loaded: bool) -> None:
        """Open the file that was read, if it was one."""
        path = path_of(source)
        if path is None or len(self.seen) >= MOST_FILES or get_worker_info() is not None:
            return
        try:
            file = open(path, "rb")  # noqa: SIM115 - the thread closes it
        except OSError:
            return
        key = (path, *mark_of(file))
        if key in self.seen:
            file.close()
            return
        self.seen.add(key)
        ref = self.run.ref("update", self.run.state.iteration_in_flight)
        self.looks.append(FileCheck(file, path, ref, loaded, self.run.here()))

    def emit(self) -> None:
        """Emit what the threads have found."""
        done = [look for look in self.looks if not look.thread.is_alive()]
        self.looks = [look for look in self.looks if look.thread.is_alive()]
        for look in done:
            if look.damage is not None:
                self.run.emit(look.fact(look.damage))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Check for finished threads; there is nearly always none."""
        if self.looks:
            self.emit()

    def crashed(self, error: BaseException) -> None:
        """Emit now: the file may be why the program dies."""
        self.ended()

    def ended(self) -> None:
        """Wait up to PATIENCE_S for each thread, and emit what they found."""
        for look in self.looks:
            look.thread.join(PATIENCE_S)
        self.emit()


def path_of(source: Any) -> str | None:
    """The path that was given, or the name of the open file."""
    given = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    given = os.fspath(given) if isinstance(given, os.PathLike) else given
    return given if isinstance(given, str) else None
