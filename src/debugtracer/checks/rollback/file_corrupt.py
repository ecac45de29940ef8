"""Are the bytes of a checkpoint those that were saved?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint_file import DamagedFile
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class FileCorrupt(Check, frozen=True):
    """A checkpoint file was loaded whose content does not match its checksums.

    What it catches
        A copy or download with a wrong or missing part, a failing disk, a file edited in place.
    Why it matters
        torch.load compares no checksum: weights and moments with wrong bytes are loaded without an error, and training
        goes on from them.
    How it decides
        torch.save writes a CRC-32 for each record of its archive; each file given to torch.load (at most 16, the first
        8 GiB of each) is read once more by a thread of ours and compared. A file without checksums
        (set_crc32_options(False)), another format, and one that is written meanwhile are silent.
    What to do
        Load another checkpoint, make the copy again and compare its checksum.
    Example
        step 60, rank 0: 5 of 21 records of /data/mirror.pt, loaded here (train.py:48), do not match their checksum
        (model.2.weight, ...); expected the bytes that torch.save wrote. Load another checkpoint, and copy or download
        this one again.
    """

    needs: ClassVar[tuple[type[DamagedFile]]] = (DamagedFile,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "ckpt_corrupt"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "load another checkpoint; copy or download this one again and compare its checksum (sha256sum)",
        "test a file before it is used: zipfile.ZipFile(path).testzip() is None",
        "look at the disk and its log when the file was never copied",
    )
    proved_by: ClassVar[str] = "rollback/copied_in_blocks"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one error per file."""
        for fact in window.new(DamagedFile):
            if fact.damaged:
                inside = fact.tensors[0] if fact.tensors else fact.damaged[0].partition("/")[2] or fact.damaged[0]
                yield self.finding(
                    window,
                    "error",
                    f"{fact.count} of {fact.records} records of {fact.path}, loaded here{spot(fact.frame)}, "
                    f"{'does' if fact.count == 1 else 'do'} not match "
                    f"{'its' if fact.count == 1 else 'their'} checksum ({inside}{', ...' * (fact.count > 1)}); "
                    "expected the bytes that torch.save wrote. Load another "
                    "checkpoint, and copy or download this one again.",
                    ref=fact.ref,
                    place=Place(param=fact.tensors[0] if fact.tensors else None, frame=fact.frame),
                    damaged=fact.count,
                    records=fact.records,
                )
