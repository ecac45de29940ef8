"""Functions that torch does not have."""

from __future__ import annotations

import pytest
import torch

from tests.source.reading import lines

HITS = [
    "on = torch.autograd.is_detect_anomaly_enabled()",
    "from torch import autograd\non = autograd.is_detect_anomaly_enabled()",
    "torch._debug_has_inf_over_flows(x)",
]
TWINS = [
    "on = torch.is_anomaly_enabled()",
    "on = mine.is_detect_anomaly_enabled()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("function-missing", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("function-missing", text) == []


def test_torch_has_none_of_them_and_all_that_are_advised():
    assert not hasattr(torch.autograd, "is_detect_anomaly_enabled") and not hasattr(torch, "_debug_has_inf_over_flows")
    assert torch.is_anomaly_enabled() is False
