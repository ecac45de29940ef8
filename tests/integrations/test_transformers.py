"""One line in Hugging Face's Trainer: a NaN that its log would hide is seen in its own step."""

from __future__ import annotations

import pytest
import torch

from debugtracer.errors import StoppedByTracer
from debugtracer.session import active
from debugtracer.trace.events import Incident
from debugtracer.trace.store.reader import open_trace

transformers = pytest.importorskip("transformers")
from debugtracer.integrations.transformers import DebugTracerCallback  # noqa: E402


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return {"x": torch.full((3,), 0.1 * index), "weight": torch.tensor(0.0 if index == 13 else 1.0)}


class Net(torch.nn.Module):
    def __init__(self, bad):
        super().__init__()
        self.net, self.bad = torch.nn.Linear(3, 1), bad

    def forward(self, x, weight):
        loss = self.net(x).square().squeeze(1)
        return {"loss": (loss / weight if self.bad else loss).mean()}


def train(tmp_path, bad, mode):
    torch.manual_seed(0)
    arguments = transformers.TrainingArguments(
        str(tmp_path / "hf"), num_train_epochs=1, per_device_train_batch_size=4, report_to=[], save_strategy="no",
        use_cpu=True, disable_tqdm=True, remove_unused_columns=False, logging_nan_inf_filter=True,
    )  # fmt: skip
    callback = DebugTracerCallback(out=tmp_path / "runs", mode=mode)
    transformers.Trainer(model=Net(bad), args=arguments, train_dataset=Rows(), callbacks=[callback]).train()


def test_a_healthy_training_is_watched_from_its_begin_to_its_end(tmp_path):
    train(tmp_path, False, "dev")
    assert active() is None
    assert len(open_trace(tmp_path / "runs").series("loss")[0]) == 6


def test_the_sample_of_a_hidden_nan_is_named(tmp_path):
    with pytest.raises(StoppedByTracer):
        train(tmp_path, True, "dev")
    active_now = active()
    if active_now is not None:
        import debugtracer.session

        debugtracer.session.stop()
    (incident,) = [e for e in open_trace(tmp_path / "runs").events() if isinstance(e, Incident)]
    assert (incident.verdict.op, incident.verdict.sample_index) == ("aten::div", (13,))
