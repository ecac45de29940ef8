"""Nothing above a note on loops that are healthy and look like faults."""

from __future__ import annotations

import pytest
import torch

from debugtracer.trace.events import Found
from tests.checks.model.healthy_loops import LOOPS
from tests.watching import events, under_watch


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_the_model_layer_is_silent(loop, tmp_path):
    torch.manual_seed(0)
    with under_watch(tmp_path):
        loop()
    loud = [
        e.finding.message
        for e in events(tmp_path)
        if isinstance(e, Found) and e.finding.severity != "note" and e.finding.layer in ("model", "data")
    ]
    assert loud == []
