"""Anomaly mode left on."""

from __future__ import annotations

import pytest

from tests.source.reading import executed, lines, severities

HITS = [
    "torch.autograd.set_detect_anomaly(True)",
    "from torch import autograd\nautograd.set_detect_anomaly(True)",
]
TWINS = [
    "torch.autograd.set_detect_anomaly(args.debug)",
    "torch.autograd.set_detect_anomaly(False)",
    "with torch.autograd.detect_anomaly():\n    loss.backward()",
]


@pytest.mark.parametrize("text", HITS)
def test_it_hits(text):
    assert len(lines("anomaly-mode-blind", text)) >= 1


@pytest.mark.parametrize("text", TWINS)
def test_a_guarded_twin_stays_silent(text):
    assert lines("anomaly-mode-blind", text) == []


def test_torch_does_not_see_inf_nor_what_is_born_forward():
    found = executed("""
        import warnings; warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            x = torch.tensor([-1.0], requires_grad=True)
            forward = torch.log(x)
            forward.sum().backward()
            y = torch.tensor([0.0], requires_grad=True)
            torch.log(y).sum().backward()
    """)
    assert found["forward"].isnan() and found["x"].grad == -1 and found["y"].grad.isinf()
    assert severities("anomaly-mode-blind", "torch.autograd.set_detect_anomaly(True)") == ["note"]
