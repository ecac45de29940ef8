"""CUDA where there is none."""

from __future__ import annotations

import pytest
import torch

from debugtracer.devices.present import device


def test_the_variable_that_makes_kernels_wait():
    assert device("cuda").blocking == "CUDA_LAUNCH_BLOCKING"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_generator_memory_and_a_copy_on_its_way():
    cuda = device("cuda")
    value = torch.arange(4.0, device="cuda")
    copy, arrived = cuda.host_copy(value), cuda.arrival()
    arrived.synchronize()
    assert copy.is_pinned()
    assert copy.tolist() == [0, 1, 2, 3]
    assert cuda.generator(None) is torch.cuda.default_generators[torch.cuda.current_device()]
    assert cuda.memory().allocated >= value.nbytes


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_one_it_is_asleep_and_says_nothing():
    cuda = device("cuda")
    assert not cuda.awake()
    assert not cuda.usable()
    assert cuda.memory() is None
