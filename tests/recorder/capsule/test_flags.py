from __future__ import annotations

import msgspec
import pytest
import torch

from debugtracer.recorder.capsule.flags import Flags, read_flags, under


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


def test_a_capsule_without_switches_has_those_of_torch_and_they_cannot_be_changed() -> None:
    flags = Flags()
    assert msgspec.structs.asdict(flags) == {
        "threads": 1,
        "deterministic": False,
        "matmul_precision": "highest",
        "mkldnn": True,
        "flush_denormal": False,
        "cudnn": True,
        "cudnn_benchmark": False,
        "cudnn_deterministic": False,
        "cudnn_tf32": True,
    }
    with pytest.raises(AttributeError):
        flags.threads = 2  # type: ignore[misc]


@pytest.mark.parametrize(("threads", "set_to"), [(0, 1), (-3, 1), (2, 2)])
def test_a_number_of_threads_that_torch_would_refuse_is_brought_into_its_range(threads: int, set_to: int) -> None:
    with under(msgspec.structs.replace(read_flags(), threads=threads)):
        assert torch.get_num_threads() == set_to


@pytest.mark.parametrize("name", ["cudnn", "cudnn_benchmark", "cudnn_deterministic", "cudnn_tf32", "deterministic"])
def test_each_switch_is_read_and_set_alone(name: str) -> None:
    before = read_flags()
    other = msgspec.structs.replace(before, **{name: not getattr(before, name)})
    with under(other):
        assert read_flags() == other
    assert read_flags() == before
