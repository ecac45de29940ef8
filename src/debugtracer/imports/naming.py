"""What a logged number is called here: loss, val_loss, grad_l2 and lr when the log has them under a usual name,
`logged/<name>` otherwise."""

from __future__ import annotations

import re

from debugtracer.trace.window import GRAD_L2, LOSS, LR, VAL_LOSS

USUAL = {  # our name: what Trainer, Lightning, Keras-like loops and TensorBoard tutorials call it, the likeliest first
    LOSS: (
        "loss",
        "train_loss",
        "train_loss_step",
        "loss_train",
        "training_loss",
        "loss_step",
        "batch_loss",
        "train_batch_loss",
        "train_loss_epoch",
    ),
    VAL_LOSS: (
        "val_loss",
        "eval_loss",
        "valid_loss",
        "validation_loss",
        "loss_val",
        "loss_eval",
        "loss_valid",
        "loss_validation",
        "val_loss_epoch",
    ),
    GRAD_L2: (
        "grad_norm",
        "train_grad_norm",
        "gradient_norm",
        "total_grad_norm",
        "grad_norm_total",
        "grad_2_0_norm_total",
        "train_gradient_norm",
        "grad_l2",
    ),
    LR: ("lr", "learning_rate", "train_lr", "train_learning_rate"),
}
MONITORED_LR = re.compile(r"lr_\w+")  # LearningRateMonitor: lr-Adam, lr-SGD/pg1
# counters and clocks of the logger, not of the training
CLOCKS = re.compile(
    r"((train|eval|val|test|trainer|predict)_)*(epoch|step|global_step|total_flos|runtime|\w+_per_second)"
)


def our_names(logged: set[str]) -> dict[str, str]:
    """Map logged names to ours; counters and clocks are left out, and of two names for one thing the likelier gets
    it."""
    plain = {name: plainly(name) for name in sorted(logged) if not CLOCKS.fullmatch(plainly(name))}
    told: dict[str, str] = {}
    for ours, usual in USUAL.items():
        hits = sorted((usual.index(p), name) for name, p in plain.items() if p in usual)
        if hits:
            told[hits[0][1]] = ours
    rates = [name for name, p in plain.items() if MONITORED_LR.fullmatch(p)]
    if LR not in told.values() and rates:
        told[rates[0]] = LR
    return {name: told.get(name, f"logged/{name}") for name in plain}


def plainly(name: str) -> str:
    """Normalise a logged name: `Loss/train` is `loss_train`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
