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
from debugtracer.probes.archive import Damage, damage_of, mark_of
from debugtracer.probes.probe import Patches
from debugtracer.probes.taker import Taker
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.step import StepRef

MOST_FILES = 16  # files looked at per process: a data set of .pt files is not read twice (ours)
MOST_BYTES = 8 << 30  # bytes of one file looked at; some 10 s of one core (ours)
PATIENCE_S = 5.0  # seconds that the end of a run waits for a file still being read (ours)


class Look:
    """One file that a thread of ours reads; it was opened when it was loaded, so a file put in its place is another one."""

    def __init__(self, file: IO[bytes], path: str, ref: StepRef, loaded: bool, frame: Frame | None) -> None:
        self.file, self.path, self.ref, self.loaded, self.frame = file, path, ref, loaded, frame
        self.mark = mark_of(file)
        self.damage: Damage | None = None
        self.thread = threading.Thread(target=self.read, name="debug-tracer-checkpoint", daemon=True)
        self.thread.start()

    def read(self) -> None:
        """The loop of the thread. A file that is written meanwhile says nothing; one that cannot be read is none of ours."""
        try:
            with self.file:
                damage = damage_of(self.file, MOST_BYTES)
                if damage is not None and mark_of(self.file) == self.mark:
                    self.damage = damage
        except (OSError, ValueError):
            return

    def fact(self, damage: Damage) -> DamagedFile:
        """What is told."""
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


class CheckpointFileTaker(Taker):
    """Wraps torch.load. The training thread opens the file and goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.looks: list[Look] = []
        self.seen: set[tuple[str, int, int]] = set()
        self.off = False

    def install(self) -> None:
        """torch.load is known under two names."""
        self.off = False
        made = self.loading(torch.load)
        self.patches.put(torch, "load", made)
        self.patches.put(torch.serialization, "load", made)

    def remove(self) -> None:
        """Everything as it was."""
        self.off = True
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing; the threads stayed with the parent."""
        self.looks.clear()
        self.seen.clear()

    def loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """torch.load."""

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            loaded = False
            try:
                result = original(*args, **kwargs)
                loaded = True
            finally:
                if not self.off:
                    guarded("probes.checkpoint_file")(self.on_load)(args[0] if args else kwargs.get("f"), loaded)
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
        ref = self.desk.ref("update", self.desk.recorder.iteration_in_flight)
        self.looks.append(Look(file, path, ref, loaded, self.desk.here()))

    def tell(self) -> None:
        """What the threads have found."""
        done = [look for look in self.looks if not look.thread.is_alive()]
        self.looks = [look for look in self.looks if look.thread.is_alive()]
        for look in done:
            if look.damage is not None:
                self.desk.tell(look.fact(look.damage))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Nearly always nothing waits."""
        if self.looks:
            self.tell()

    def crashed(self, error: BaseException) -> None:
        """The file may be why."""
        self.ended()

    def ended(self) -> None:
        """The last chance to tell."""
        for look in self.looks:
            look.thread.join(PATIENCE_S)
        self.tell()


def path_of(source: Any) -> str | None:
    """The path that was given, or the name of the open file."""
    given = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", None)
    given = os.fspath(given) if isinstance(given, os.PathLike) else given
    return given if isinstance(given, str) else None
