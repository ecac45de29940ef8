"""One answer of a check: something is wrong here, with severity and evidence."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.errors import UsageError
from debugtracer.trace.number import Number
from debugtracer.trace.place import Place

UNTRIED = "untried"  # evidence of a finding that waits for a trial of its own before it is told
UNTRAINED = "untrained"  # evidence of one that training on decides nothing about, whatever others of its class do
Severity = Literal["note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
OFF = "off"  # as a least severity: none is severe enough
Layer = Literal["data", "model", "optimizer", "device", "numerics", "logging", "rollback"]
LAYERS: tuple[Layer, ...] = ("data", "model", "optimizer", "device", "numerics", "logging", "rollback")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """`check` is `layer/slug`. Message grammar: where - what was seen (number, unit) - what was expected - what to do
    next."""

    check: str
    layer: Layer
    severity: Severity
    iteration: int
    step: int
    rank: int = 0
    message: str
    evidence: dict[str, Number] = {}
    kind: str | None = None
    """The class of fault this is (cases/README.md), when the finding is a diagnosis; None when it is only a symptom
    that others explain."""
    symptom: str = "silent"
    """What a person notices: silent, no_learning, loss_spike, crash, nan_loss, inf_grad, none."""
    exact: bool = False
    """An exact invariant was broken: confirmed without a replay."""
    confidence: float = 0.6
    """Of the diagnosis, 0..1."""
    place: Place = Place()
    remedy: tuple[str, ...] = ()
    """What to do, in order."""
    suspects: tuple[str, ...] = ()
    """Further classes, likeliest first."""


def grave(severity: str) -> int:
    """Rank a severity: 0 for a note, and higher the graver it is."""
    return SEVERITIES.index(severity)


def least_severity(word: str) -> int | None:
    """How grave a `--fail-on` word says that a finding must be; None for `off`. Raises UsageError."""
    if word not in (OFF, *SEVERITIES):
        raise UsageError(f"--fail-on {word}: expected {OFF}, {', '.join(SEVERITIES)}")
    return None if word == OFF else grave(word)
