"""What a logged number is called here."""

from __future__ import annotations

import pytest

from debugtracer.imports.naming import our_names, plainly


@pytest.mark.parametrize(
    ("logged", "ours"),
    [
        ("loss", "loss"), ("train/loss", "loss"), ("Loss/train", "loss"), ("train_loss_step", "loss"),
        ("eval_loss", "val_loss"), ("Loss/valid", "val_loss"), ("grad_norm", "grad_l2"),
        ("grad_2.0_norm_total", "grad_l2"), ("learning_rate", "lr"), ("lr-Adam", "lr"), ("lr-SGD/pg1", "lr"),
        ("val_acc", "logged/val_acc"), ("kl_loss", "logged/kl_loss"),
    ],
)  # fmt: skip
def test_usual_names_are_known_and_others_kept(logged, ours):
    assert our_names({logged}) == {logged: ours}


def test_of_two_losses_the_one_of_the_step_is_the_loss():
    assert our_names({"train_loss_epoch", "train_loss_step"}) == {
        "train_loss_step": "loss",
        "train_loss_epoch": "logged/train_loss_epoch",
    }


def test_of_two_learning_rates_one_is_the_learning_rate():
    assert our_names({"lr-Adam/pg1", "lr-Adam/pg2"}) == {"lr-Adam/pg1": "lr", "lr-Adam/pg2": "logged/lr-Adam/pg2"}


def test_counters_and_clocks_are_no_numbers_of_the_training():
    assert (
        our_names(
            {
                "epoch",
                "train/epoch",
                "train/train_runtime",
                "train/global_step",
                "eval_runtime",
                "eval/samples_per_second",
                "total_flos",
            }
        )
        == {}
    )


def test_plainly_ignores_case_and_separators():
    assert plainly("Loss/Train.step") == "loss_train_step"
