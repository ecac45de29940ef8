"""The parts of a saved object."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from debugtracer.observers.checkpoint.checkpoint_parts import (
    groups_of,
    is_of_weights_only,
    nonfinite,
    parts_of,
    print_of,
    rate_beside,
)


def test_each_part_is_known_by_its_form():
    model = nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    saved = {
        "m": model.state_dict(),
        "o": [optimizer.state_dict()],
        "s": schedule.state_dict(),
        "epoch": 3,
        "rng": torch.get_rng_state(),
    }
    parts = parts_of(saved)
    assert parts.words == {"weights", "optimizer", "scheduler", "counter", "generator"}
    assert (list(parts.weights), parts.counts) == (["m.weight", "m.bias"], [3])
    assert parts_of(model.state_dict()).words == {"weights"}


def test_a_weight_is_broken_and_a_mask_or_a_table_is_not():
    model = nn.Linear(2, 2)
    model.register_buffer("mask", torch.tensor([0.0, float("-inf")]))
    assert nonfinite(parts_of({"m": model.state_dict(), "history": torch.tensor([float("nan")])})) == ()
    with torch.no_grad():
        model.bias[0] = float("nan")
    assert nonfinite(parts_of({"m": model.state_dict()})) == ("m.bias",)


def test_the_same_weights_have_the_same_print():
    model = nn.Linear(2, 2)
    assert print_of(model.state_dict()) == print_of({f"module.{k}": v.clone() for k, v in model.state_dict().items()})
    assert print_of({}) is None


def test_the_setup_of_an_optimizer_is_the_same_in_its_file_and_in_a_new_one() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(model.parameters(), 0.5, weight_decay=0.1)
    torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.param_groups[0]["lr"] = 0.1
    (setup,) = parts_of({"model": model.state_dict(), "optimizer": optimizer.state_dict()}).setups
    assert setup == groups_of(torch.optim.AdamW(model.parameters(), 0.5, weight_decay=0.1).param_groups)
    assert setup != groups_of(torch.optim.AdamW(model.parameters(), 0.5, weight_decay=0.2).param_groups)
    assert setup != groups_of(torch.optim.AdamW(model.parameters(), 0.3, weight_decay=0.1).param_groups)


@pytest.mark.parametrize("weights_only", [True, False])
def test_lightnings_own_files_of_weights_are_known(tmp_path, weights_only):
    lightning = pytest.importorskip("lightning")

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def training_step(self, batch, number):
            return self.layer(batch).mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(max_steps=2, accelerator="cpu", default_root_dir=tmp_path, **quiet)
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.randn(8, 2), 4))
    trainer.save_checkpoint(tmp_path / "x.ckpt", weights_only=weights_only)
    assert is_of_weights_only(torch.load(tmp_path / "x.ckpt", weights_only=False)) is weights_only
    assert not is_of_weights_only({"state_dict": {}, "epoch": 1})


def test_the_rate_of_a_setup_that_differs_in_it_alone() -> None:
    weights = [torch.nn.Parameter(torch.zeros(2))]
    mine, lower, other = (
        groups_of(make(weights, lr=rate).state_dict()["param_groups"])
        for make, rate in ((torch.optim.Adam, 0.05), (torch.optim.Adam, 0.005), (torch.optim.SGD, 0.005))
    )
    assert rate_beside(mine, [other, lower]) == 0.005
    assert rate_beside(mine, [mine]) is None
    assert rate_beside(mine, [other]) is None
