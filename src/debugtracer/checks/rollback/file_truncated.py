"""Is a checkpoint file whole?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FileTruncated(Check, frozen=True):
    """torch.load fails on a file that ends too early.

    What it catches
        A save that was interrupted (a full disk, a job killed while it wrote), a copy or download that stopped.
    Why it matters
        torch speaks of a zip archive without a central directory; that the end of the file is missing is the thing to
        know.
    How it decides
        The file begins as the archive that torch.save writes and has no directory at its end. The program died in
        torch.load: an error. It caught the exception and went on (with an older file): a note.
    What to do
        Load the checkpoint before it; save under another name and rename it when it is whole.
    Example
        step 60, rank 0: /data/mirror.pt, loaded here (train.py:47), ends after 131072 bytes without a readable
        directory of its records; expected a whole file. Load the checkpoint before it, and save under another name that
        is renamed at the end.
    """

    needs: ClassVar[tuple[type[DamagedFile]]] = (DamagedFile,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ckpt_corrupt"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "load the checkpoint before it, or copy this one again",
        'save to path + ".tmp" and os.replace it when torch.save has returned; look whether the disk is full',
    )
    proved_by: ClassVar[str] = "rollback/copied_short"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at the end of the run, when it is known whether the program died of it."""
        if not window.ended:
            return
        died = any("load" in crash.torch_calls for crash in window.seen(Crash))
        for fact in window.seen(DamagedFile):
            if fact.cut and not fact.loaded:
                yield self.finding(
                    window,
                    "error" if died else "note",
                    f"{fact.path}, loaded here{spot(fact.frame)}, ends after {fact.size_bytes} bytes without a "
                    "readable directory of its records; expected a whole file. Load the checkpoint before it, and save "
                    "under another name that is renamed at the end.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    size_bytes=fact.size_bytes,
                )
