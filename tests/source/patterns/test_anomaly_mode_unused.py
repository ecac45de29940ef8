"""The context manager used as a switch."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines

HITS = [
    "torch.autograd.detect_anomaly(check_nan=True)\nloss.backward()",
    "from torch.autograd import detect_anomaly\ndetect_anomaly()",
]
TWINS = [
    "with torch.autograd.detect_anomaly():\n    loss.backward()",
    "torch.autograd.set_detect_anomaly(True)",
    "context = torch.autograd.detect_anomaly()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("anomaly-mode-unused", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("anomaly-mode-unused", text) == []


def test_torch_leaves_the_mode_off():
    found = executed("""
        import warnings; warnings.simplefilter("ignore")
        torch.autograd.detect_anomaly(check_nan=True)
        on = torch.is_anomaly_enabled()
    """)
    assert found["on"] is False
