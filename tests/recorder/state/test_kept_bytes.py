"""What a ring keeps alive, in bytes."""

from __future__ import annotations

import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.recorder.state.kept_bytes import KeptBytes
from tests.observers.observing import fit
from tests.watching import under_watch


def test_batches_and_snapshots_are_counted(tmp_path) -> None:
    data = TensorDataset(torch.randn(64, 3), torch.arange(64) % 2)
    with under_watch(tmp_path, mode="observe") as session:
        assert KeptBytes(session.ring).count() == 0
        fit(DataLoader(data, 8))
        kept, snapshots = KeptBytes(session.ring), list(session.ring.held)
        batches = sum(session.ring.bytes)
        assert batches >= 8 * 3 * 4 * len(session.ring.tapes) > 0
        assert kept.count() == batches + sum(copy.nbytes for s in snapshots for copy in s.copies) > batches
