"""Values that keep the best model, of real callbacks of Lightning."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from debugtracer import session
from debugtracer.observers.checkpoint import best_values
from debugtracer.observers.checkpoint.best_values import scalar, told_to_trainer
from debugtracer.trace.facts.best_kept import BestKept
from tests.extras import needs
from tests.observers.told import facts
from tests.watching import under_watch


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


def fit(out, callbacks):
    import lightning

    class Line(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Linear(3, 1)

        def training_step(self, batch, index):
            return self.net(batch[0]).square().mean()

        def validation_step(self, batch, index):
            self.log("size", float(self.current_epoch))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    rows = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(24, 3)), batch_size=8)
    trainer = lightning.Trainer(
        max_epochs=4, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
        callbacks=callbacks,
    )  # fmt: skip
    with under_watch(out):
        trainer.fit(Line(), rows, rows)


def test_what_lightning_keeps_and_stops_by_is_read(tmp_path, monkeypatch):
    needs("lightning")
    monkeypatch.setattr(best_values, "program_files", lambda: [__file__])  # a worker of pytest has no script
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

    best = ModelCheckpoint(tmp_path / "kept", monitor="size", mode="max")
    stop = EarlyStopping(monitor="size", patience=9)
    fit(tmp_path / "runs", [best, stop])
    found = facts(tmp_path / "runs", BestKept)
    kinds = {(f.owner, f.monitor, f.mode) for f in found}
    assert kinds == {("ModelCheckpoint", "size", "max"), ("EarlyStopping", "size", "min")}
    values = [(f.count, f.value) for f in found if f.owner == "ModelCheckpoint"]
    assert values == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]
    (frame,) = {f.frame for f in found if f.owner == "ModelCheckpoint"}
    assert frame.code.startswith("best = ModelCheckpoint(")
    assert best.best_model_score == 3
    assert not hasattr(ModelCheckpoint.check_monitor_top_k, "__wrapped__")  # restored


def test_what_a_trainer_of_transformers_is_told():
    args = SimpleNamespace(metric_for_best_model="right", greater_is_better=False)
    assert told_to_trainer(SimpleNamespace(args=args), ({"eval_right": 0.3}, None)) == ("right", "min", 0.3)
    args = SimpleNamespace(metric_for_best_model="eval_loss", greater_is_better=True)
    assert told_to_trainer(SimpleNamespace(args=args), ({"eval_loss": 2.0},)) == ("eval_loss", "max", 2.0)
    assert told_to_trainer(SimpleNamespace(args=args), ()) == ("eval_loss", "max", None)


def test_what_is_read_as_a_number():
    assert (scalar(torch.tensor(2.5)), scalar(3), scalar(None), scalar(torch.zeros(2))) == (2.5, 3.0, None, None)
