"""One line in a Lightning Trainer: the watch begins with fit, names the fault and ends with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from debugtracer.errors import StoppedByTracer
from debugtracer.session import active
from debugtracer.trace.events import Incident, Noted
from debugtracer.trace.store.reader import open_trace

if find_spec("lightning") is None and os.environ.get("CI") != "true":
    pytest.skip("lightning is not installed", allow_module_level=True)


def line(bad):
    """A module whose loss is divided by 0 in one step; lightning is imported by the process that needs it."""
    import lightning

    class Line(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(3, 1)

        def training_step(self, batch, index):
            out = self.net(batch[0]).square().mean()
            return out / 0.0 if index == bad else out

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    return Line()


def fit(tmp_path, bad, mode):
    import lightning

    from debugtracer.integrations.lightning import DebugTracerCallback

    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(24, 3)), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, gradient_clip_val=2.0, callbacks=[DebugTracerCallback(out=tmp_path, mode=mode)],
    )  # fmt: skip
    trainer.fit(line(bad), rows)
    return trainer


def test_a_healthy_fit_is_watched_from_its_begin_to_its_end(tmp_path):
    assert fit(tmp_path, -1, "dev").state.finished
    assert active() is None
    trace = open_trace(tmp_path)
    (note,) = [e.text for e in trace.events() if isinstance(e, Noted) and e.what == "lightning"]
    assert len(trace.series("loss")[0]) == 6 and not [e for e in trace.events() if isinstance(e, Incident)]
    assert "gradient_clip_val=2.0" in note


def test_a_bad_step_ends_fit_after_its_teardown(tmp_path):
    with pytest.raises(StoppedByTracer):
        fit(tmp_path, 3, "dev")
    assert active() is None
    (incident,) = [e for e in open_trace(tmp_path).events() if isinstance(e, Incident)]
    assert (incident.facts.ref.step, incident.verdict.op) == (3, "aten::div")


def test_observed_it_trains_to_the_end(tmp_path):
    assert fit(tmp_path, 3, "observe").state.finished
    assert [e for e in open_trace(tmp_path).events() if isinstance(e, Incident)]


def test_without_a_watch_the_package_loads_no_framework():
    words = [
        sys.executable,
        "-c",
        (
            "import debugtracer.session, sys, json; print(json.dumps('lightning' in sys.modules or 'transformers' in "
            "sys.modules))"
        ),
    ]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=300, cwd=Path(__file__).resolve().parents[2] / "src"
    )
    assert json.loads(done.stdout.splitlines()[-1]) is False
