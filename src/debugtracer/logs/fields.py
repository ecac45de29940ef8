"""The numbers of one line: loss (or what it is called instead), gradient norm, learning rate, loss scale, step and
epoch, as the usual trainers print them."""

from __future__ import annotations

import functools
import re

from debugtracer.trace.window import LOSS, LOSS_SCALE, LR, VAL_LOSS

OBJECTIVE, GRAD_NORM, STEP, EPOCH = "objective", "grad_norm", "step", "epoch"
FIELD = re.compile(
    r"""(?<![\w.])(?P<key>(?:(?!(?:nan|inf)\b)[A-Za-z_][\w./]*[ -]){0,2}"""
    r"""(?!(?:nan|inf)\b)[A-Za-z_][\w./]*)["']?\]?\s{0,8}(?:[:=|]\s{0,8})?["']?"""
    r"""(?P<value>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf(?:inity)?)(?:\.0)?)"""
    r"""(?=$|[\s,;)}\]|"'/(:]|\.(?:\s|$))""",
    re.IGNORECASE | re.ASCII,
)
COUNTS = {
    "step",
    "steps",
    "iter",
    "iteration",
    "iterations",
    "global_step",
    "it",
    "itr",
    "num_updates",
    "batch",
    "update",
    "trainer/global_step",
}
NORMS = {
    "grad_norm",
    "gradnorm",
    "gnorm",
    "gradient_norm",
    "total_norm",
    "grad",
    "grad_l2",
    "gradients_norm",
    "train/grad_norm",
}
OWN = {
    "",
    "train",
    "training",
    "total",
    "lm",
    "running",
    "avg",
    "average",
    "mean",
    "batch",
    "current",
    "cur",
    "tr",
    "trn",
    "step",
    "reduced_train",
    "iter",
    "the",
}
# losses under their own names
OBJECTIVES = ("nll", "mse", "mae", "rmse", "bce", "xent", "elbo", "objective", "perplexity", "cross_entropy")
HELD_OUT = ("val", "valid", "validation", "eval", "evaluation", "test", "dev")
SUMMARY = ("train_runtime", "best_loss")  # a line that repeats numbers of the whole run


def hinted(line: str) -> bool:
    """Whether a line can hold one of the numbers at all; plain searches, because it is asked of every line of a log."""
    return (
        "oss" in line
        or "OSS" in line
        or "orm" in line
        or "cale" in line
        or "lr" in line
        or "earning" in line
        or any(word in line for word in OBJECTIVES)
    )


@functools.lru_cache(maxsize=4096)
def name_of(key: str) -> str | None:
    """The series a printed key belongs to; None for any other."""
    words = re.split(r"[\s/_.\-]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).lower().strip("_./ "))
    joined = "_".join(words)
    if joined.endswith(("loss_scale", "grad_scale", "loss_scaling")) or joined in (
        "scale",
        "scaler_scale",
        "amp_scale",
        "loss_scaler",
    ):
        return LOSS_SCALE
    if words[-1] == "loss":
        return (
            VAL_LOSS
            if any(word in HELD_OUT for word in words[:-1])
            else LOSS
            if all(word in OWN for word in words[:-1])
            else None
        )
    if joined.endswith(OBJECTIVES):
        return None if any(word in HELD_OUT for word in words) else OBJECTIVE
    if joined.endswith(tuple(NORMS - {"grad"})) or joined == "grad":
        return GRAD_NORM
    if words[-1] == "lr" or joined.endswith(("learning_rate", "learningrate")):
        return LR
    if joined in COUNTS or key.lower() in COUNTS:
        return STEP
    return EPOCH if joined in ("epoch", "train_epoch") else None


def fields(line: str) -> dict[str, float]:
    """Return series and value of each number in a line, the first one of each series."""
    found: dict[str, float] = {}
    if any(word in line for word in SUMMARY):
        return found
    for match in FIELD.finditer(line):
        name = closest(match["key"])
        if name is not None and name not in found:
            found[name] = number_of(match["value"])
    return found


def number_of(text: str) -> float:
    """The number; Lightning's progress bar prints `nan.0`."""
    return float(text.removesuffix(".0") if text[-3:-2].isalpha() else text)


@functools.lru_cache(maxsize=4096)
def closest(key: str) -> str | None:
    """The series of a key of up to three words: `lm loss`, else its last words, so that `| INFO loss` is loss."""
    words = key.split(" ")
    return next((name for start in range(len(words)) if (name := name_of(" ".join(words[start:]))) is not None), None)
