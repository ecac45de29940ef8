"""Where snapshots lie. What pinned memory does on a GPU is not shown here: this machine has none."""

from __future__ import annotations

import pytest
import torch

from debugtracer.devices.present import device
from debugtracer.errors import UsageError
from debugtracer.recorder.state.copies import UpdateCopy
from debugtracer.recorder.state.host_copy import copying_threads, goes_to_host, host_copy
from debugtracer.settings import Settings
from tests.recorder.ringed import Training
from tests.watching import same_bits


class Lying:
    """Stands for a tensor of an accelerator: only its device is asked."""

    def __init__(self, kind: str) -> None:
        self.device = torch.device(kind)


@pytest.mark.parametrize(
    ("place", "kind", "free", "there"),
    [
        ("auto", "cpu", 0, False), ("host", "cpu", 0, False), ("host", "cuda", 10**12, True),
        ("device", "cuda", 0, False), ("auto", "cuda", 10**4, False), ("auto", "cuda", 9999, True),
        ("auto", "meta", 0, False),
    ],
)  # fmt: skip
def test_snapshots_go_to_the_host_where_a_device_lacks_room(place, kind, free, there):
    assert goes_to_host(place, [Lying(kind)], 1000, lambda _: free) is there


def test_a_device_that_cannot_be_asked_keeps_them():
    assert device("vulkan").free_bytes(torch.device("vulkan")) == 2**62


def test_a_copy_on_the_host_is_another_tensor_with_the_same_bits():
    value = torch.tensor([1.0, -0.0, float("nan")])
    copy = host_copy(value)
    assert same_bits(copy, value)
    assert copy.data_ptr() != value.data_ptr()


def test_parameters_and_moments_come_back_from_the_host():
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    copy = UpdateCopy(optimizer, list(model.parameters()), on_host=True)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    copy.take()
    before = [model.weight.detach().clone(), optimizer.state[model.weight]["exp_avg"].clone()]
    for _ in range(2):
        optimizer.step()
        copy.restore()
        assert same_bits(model.weight, before[0])
        assert same_bits(optimizer.state[model.weight]["exp_avg"], before[1])
        copy.take()


def test_a_ring_told_to_use_the_host_goes_back_to_the_same_bits(tmp_path):
    one = Training(tmp_path, ring_place="host")
    one.go(12)
    assert one.ring.on_host is False, "a model on the CPU lies on the host already"
    assert one.ring.past(11) is not None
    one.watch.__exit__(None, None, None)


def test_an_unknown_place_is_refused():
    with pytest.raises(UsageError, match="expected auto, device, host"):
        Settings.from_env({"DEBUG_TRACER_RING_PLACE": "moon"})


def test_one_thread_copies_small_tensors(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    assert copying_threads([torch.zeros(10), torch.zeros(100, 100)]) == 1
    assert copying_threads([torch.zeros(10), torch.zeros(300, 300)]) == 4
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert copying_threads([torch.zeros(300, 300)]) == 1
