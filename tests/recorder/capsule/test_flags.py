from __future__ import annotations

import msgspec
import torch

from debugtracer.recorder.capsule.flags import read_flags, under


def test_the_switches_are_set_inside_and_put_back_afterwards() -> None:
    before = read_flags()
    other = msgspec.structs.replace(
        before,
        threads=before.threads + 1,
        matmul_precision="high",
        mkldnn=not before.mkldnn,
        flush_denormal=not before.flush_denormal,
    )
    with under(other):
        assert read_flags() == other
        assert torch.get_num_threads() == before.threads + 1
    assert read_flags() == before
