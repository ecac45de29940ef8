"""Columns that Trainer leaves out of its batches."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer import session
from debugtracer.trace.facts.dropped_column import DroppedColumn
from tests.observers.told import facts
from tests.watching import under_watch

transformers = pytest.importorskip("transformers")


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Rows(torch.utils.data.Dataset[Any]):
    """Some rows with a weight, which are counted when they are fetched."""

    fetched = 0

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> dict[str, Any]:
        self.fetched += 1
        return {"x": torch.randn(3), "y": torch.ones(1), "weight": torch.rand(()), "name": str(index)}


class Named(torch.utils.data.Dataset[Any]):
    """Tells its columns, as those of the library `datasets` do."""

    column_names = ("x", "y", "weight")

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"x": torch.ones(3), "y": torch.ones(1), "weight": torch.ones(())}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": (self.net(x) - y).square().mean()}


class NetWithWeight(Net):
    def forward(self, x, y, weight=None):  # type: ignore[override]
        return super().forward(x, y)


class Weighted(transformers.Trainer):  # type: ignore[misc]
    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **kwargs: Any) -> Any:
        weight = inputs.pop("weight", None)
        loss = model(**inputs)["loss"]
        return loss if weight is None else loss * weight.mean()


class Careful(transformers.Trainer):  # type: ignore[misc]
    def compute_loss(self, model: Any, inputs: Any, return_outputs: bool = False, **kwargs: Any) -> Any:
        inputs.pop("weight", None)
        inputs.pop("name", None)
        self.log_level = inputs.get("level", 0)
        return model(**inputs)["loss"]


class OwnWeight(Weighted):
    def training_step(self, model: Any, inputs: Any, *more: Any) -> Any:
        inputs["weight"] = torch.ones(2)
        return super().training_step(model, inputs, *more)


class OwnLoader(Weighted):
    def get_train_dataloader(self) -> Any:
        return super().get_train_dataloader()


def stacked(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    weight = torch.tensor([float(row.get("weight", 1.0)) for row in rows])
    return {
        "x": torch.stack([row["x"] for row in rows]) * weight[:, None],
        "y": torch.stack([row["y"] for row in rows]),
    }


def adding(rows: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
    return {
        "x": torch.stack([row["x"] for row in rows]),
        "y": torch.ones(len(rows), 1),
        "weight": torch.ones(len(rows)),
    }


def seen(tmp_path: Any, kind: Any = Weighted, data: Any = None, model: Any = None, **more: Any) -> list[DroppedColumn]:
    collator = more.pop("data_collator", None)
    data = data if data is not None else Rows()
    with under_watch(tmp_path / "runs"):
        arguments = transformers.TrainingArguments(
            str(tmp_path / "hf"), num_train_epochs=1, per_device_train_batch_size=2, report_to=[], save_strategy="no",
            use_cpu=True, disable_tqdm=True, **more,
        )  # fmt: skip
        kind(model=model or Net(), args=arguments, train_dataset=data, data_collator=collator).train()
    assert getattr(data, "fetched", 8) == 8  # what was fetched for a look at its keys is not counted
    return facts(tmp_path / "runs", DroppedColumn)


def test_a_weight_that_compute_loss_asks_for(tmp_path):
    (fact,) = seen(tmp_path)
    assert (fact.trainer, fact.model, fact.dataset, fact.column) == ("Weighted", "Net", "Rows", "weight")
    assert fact.asked_by == "compute_loss"
    assert 'inputs.pop("weight", None)' in fact.frame.code


def test_a_weight_that_the_collator_asks_for(tmp_path):
    (fact,) = seen(tmp_path, transformers.Trainer, data_collator=stacked)
    assert (fact.column, fact.asked_by) == ("weight", "data_collator")
    assert 'row.get("weight", 1.0)' in fact.frame.code


def test_a_dataset_that_tells_its_columns(tmp_path):
    (fact,) = seen(tmp_path, data=Named())
    assert fact.column == "weight"


@pytest.mark.parametrize(
    "more",
    [
        {"label_names": ["y", "weight"]},
        {"model": NetWithWeight()},
        {"kind": transformers.Trainer},
        {"kind": Careful},
        {"kind": OwnWeight},
        {"kind": OwnLoader},
        {"data_collator": adding},
    ],
)
def test_what_is_kept_or_not_asked_for_is_no_news(tmp_path, more):
    assert not seen(tmp_path, **more)


def test_a_trainer_that_keeps_all(tmp_path):
    assert not seen(tmp_path, remove_unused_columns=False, data_collator=adding)
