"""How many bytes we keep alive ourselves: batches of held tapes and snapshots."""

from __future__ import annotations

from debugtracer.recorder.state.snapshot_ring import SnapshotRing


class KeptBytes:
    """Counts what a ring keeps; snapshots are counted again only where their number has changed."""

    def __init__(self, ring: SnapshotRing) -> None:
        self.ring = ring
        self.snapshots, self.snapshots_bytes = 0, 0

    def count(self) -> int:
        """The bytes of now, on the host or on the device of the model. No device is waited for."""
        if len(self.ring.held) != self.snapshots:
            self.snapshots = len(self.ring.held)
            self.snapshots_bytes = sum(copy.nbytes for held in self.ring.held for copy in held.copies)
        return sum(self.ring.bytes) + self.snapshots_bytes
