"""Numbers as the usual trainers print them."""

from __future__ import annotations

import math

import pytest

from debugtracer.logs.fields import fields


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("step 12 loss 0.3", {"step": 12, "loss": 0.3}),
        (
            "{'loss': 1.5, 'grad_norm': 2.25, 'learning_rate': 0.0001, 'epoch': 0.1}",
            {"loss": 1.5, "grad_norm": 2.25, "lr": 0.0001, "epoch": 0.1},
        ),
        ('{"step": 38, "train/loss": 0.6931}', {"step": 38, "loss": 0.6931}),
        ("Epoch 0:  51%|### | 51/100 [00:10<00:10, 50.1it/s, v_num=3, train_loss=0.300]", {"epoch": 0, "loss": 0.3}),
        (
            (
                "iteration     3383/    8000 | learning rate: 6.680E-06 | lm loss: 7.334521E-01 | loss scale: 1.0 | "
                "grad norm: 0.752 |"
            ),
            {"step": 3383, "lr": 6.68e-6, "loss": 0.7334521, "loss_scale": 1, "grad_norm": 0.752},
        ),
        (
            "Loss 0.52   LearningRate 0.001000   Epoch: 0   Global Step: 20   Fp16 Grad Scale:  0",
            {"loss": 0.52, "lr": 0.001, "epoch": 0, "step": 20, "loss_scale": 0},
        ),
        (
            "| epoch 001:  450 / 1891 loss=11.5, nll_loss=10.8, num_updates=445, lr=8.9e-05, gnorm=1.5",
            {"epoch": 1, "loss": 11.5, "step": 445, "lr": 8.9e-5, "grad_norm": 1.5},
        ),
        ("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.291", {"epoch": 1, "loss": 2.291}),
        ("epoch 1 batch 50 nll 0.4", {"epoch": 1, "step": 50, "objective": 0.4}),
        ("val_loss: 0.5", {"val_loss": 0.5}),
        ("{'train_runtime': 3.0, 'train_loss': 0.4}", {}),
        ("saved 3 files, 0 errors", {}),
    ],
)
def test_a_line_gives_its_numbers(line, found):
    assert fields(line) == pytest.approx(found)


@pytest.mark.parametrize(
    "line", ["step 3 loss nan", "loss: NaN", "{'loss': nan, 'lr': 0.1}", "train_loss=nan.0]", "loss=nan"]
)
def test_nan_in_every_spelling(line):
    assert math.isnan(fields(line)["loss"])


def test_an_infinite_norm_before_another_number_is_not_that_number():
    assert fields("step 4: loss 6e+27 grad_norm inf lr 3.0") == {
        "step": 4.0,
        "loss": 6e27,
        "grad_norm": math.inf,
        "lr": 3.0,
    }
