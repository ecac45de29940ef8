"""Version counters are set back."""

from __future__ import annotations

import torch

from debugtracer.recorder.state.version_counters import kept_versions, version_counters


def test_what_is_written_inside_is_not_counted():
    a, b = torch.ones(2), torch.ones(2)
    a.add_(1)
    with kept_versions([a, b, a]):
        a.mul_(2)
        b.mul_(2)
    assert (a._version, b._version) == (1, 0)
    assert a.tolist() == [4, 4]


def test_each_tensor_once_and_none_that_counts_nothing():
    a = torch.ones(2)
    with torch.inference_mode():
        uncounted = torch.ones(2)
    assert len(version_counters([a, a, uncounted])) == 1
