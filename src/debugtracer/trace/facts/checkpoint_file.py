"""A checkpoint file whose bytes are not those that were saved."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact


class DamagedFile(Fact, frozen=True, kw_only=True):
    """A file given to torch.load whose records do not match their checksums, or that ends too early. Emitted when the
    file was read once more, steps later."""

    ABOUT = "a loaded checkpoint"
    KEEP: ClassVar[int] = 16

    path: str
    size_bytes: int = 0
    damaged: tuple[str, ...] = ()
    """Records of the archive that do not match their checksum, at most 8."""
    count: int = 0
    """How many they are."""
    records: int = 0
    tensors: tuple[str, ...] = ()
    """Paths of the tensors that lie in those records, where that is known."""
    cut: bool = False
    """It begins as an archive and has no directory at its end."""
    loaded: bool = True
    """torch.load returned."""
    frame: Frame | None = None
    """Where it was loaded."""

    def key(self) -> object:
        """Identify the file that the fact is about."""
        return self.path
