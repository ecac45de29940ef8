"""Frameworks fetch one batch ahead: the batch in use is still found by its tensors, and the line is that of the user's
DataLoader."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.loading.loader import LoaderHook
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack

ROWS = TensorDataset(torch.arange(22.0).view(22, 1).repeat(1, 3), torch.arange(22))


class Unheard(LoopEvents):
    """Nobody listens to the loader."""


@pytest.fixture
def probe(monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")
    made = LoaderHook(Unheard(), BatchLog(), ModeStack(), RunState(), TrainingThread(), None, None)
    made.install()
    yield made
    made.remove()


def check(probe, x, y, code):
    batch, path = probe.log.find(x)
    assert (batch.indices, path) == (tuple(y.tolist()), "batch[0]")
    assert batch.loader.frame.file == __file__
    assert batch.loader.frame.code == code
    return batch is probe.log.last()


@pytest.mark.parametrize("workers", [0, 2])
def test_accelerate(probe, workers):
    accelerate = pytest.importorskip("accelerate")
    loader = DataLoader(ROWS, batch_size=4, shuffle=True, num_workers=workers)
    prepared = accelerate.Accelerator(cpu=True).prepare(loader)
    newest = [
        check(probe, x, y, "loader = DataLoader(ROWS, batch_size=4, shuffle=True, num_workers=workers)")
        for x, y in prepared
    ]
    assert newest == [False] * 5 + [True]


def test_lightning(probe, tmp_path):
    lightning = pytest.importorskip("lightning")
    seen = []

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(3, 1)

        def training_step(self, batch, _):
            seen.append(check(probe, *batch, "loader = DataLoader(ROWS, batch_size=4, shuffle=True)"))
            return self.head(batch[0]).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    loader = DataLoader(ROWS, batch_size=4, shuffle=True)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    lightning.Trainer(max_epochs=2, accelerator="cpu", default_root_dir=tmp_path, **quiet).fit(Net(), loader)
    assert len(seen) == 12


class Items(torch.utils.data.Dataset):
    def __len__(self):
        return 22

    def __getitem__(self, index):
        return {"x": torch.full((3,), float(index)), "y": index}


def test_transformers_with_accumulation(probe, tmp_path):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    seen = []

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(3, 1)

        def forward(self, x, y):
            batch, path = probe.log.find(x)
            seen.append(batch.indices == tuple(y.tolist()) and path == "batch['x']")
            assert batch.loader.frame.code.startswith("transformers.Trainer(")
            return {"loss": self.head(x).mean()}

    quiet = {
        "report_to": [],
        "save_strategy": "no",
        "logging_strategy": "no",
        "use_cpu": True,
        "disable_tqdm": True,
        "remove_unused_columns": False,
    }
    options = transformers.TrainingArguments(
        tmp_path, per_device_train_batch_size=2, gradient_accumulation_steps=4, num_train_epochs=1, **quiet
    )
    transformers.Trainer(Net(), options, train_dataset=Items()).train()
    assert seen == [True] * 11
