"""Every metric that is given out: what dashboards and alert rules may name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from debugtracer.trace import window

PREFIX = "debugtracer"


@dataclass(frozen=True)
class Metric:
    """One metric. Each has the label `run`, and `rank` beside it where it is of one rank."""

    word: str
    kind: Literal["gauge", "counter"]
    about: str
    labels: tuple[str, ...] = ("rank",)
    series: str = ""
    """The series whose last value it is."""

    @property
    def prometheus(self) -> str:
        """The name there: a counter ends in _total."""
        return f"{PREFIX}_{self.word}{'_total' if self.kind == 'counter' else ''}"

    @property
    def otel(self) -> str:
        """The name there; a backend that stores it for Prometheus makes the same of it."""
        return f"{PREFIX}.{self.word}"


@dataclass(frozen=True)
class Sample:
    """One value of a metric."""

    word: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


METRICS: dict[str, Metric] = {
    one.word: one
    for one in (
        Metric("run_info", "gauge", "1, with what the run is", ("mode", "host", "torch", "device")),
        Metric("run_status", "gauge", "1 for how the run stands, 0 for how it does not", ("status",)),
        Metric("written_timestamp_seconds", "gauge", "when anything was written last, since the epoch", ()),
        Metric("steps", "counter", "optimizer updates"),
        Metric("skipped_updates", "counter", "updates that a GradScaler has skipped"),
        Metric("findings", "counter", "findings of the checks", ("rank", "check", "severity")),
        Metric("incidents", "counter", "bad steps that were looked into", ("rank", "symptom", "cause")),
        Metric("actions", "counter", "responses taken: skip-update, roll-back, pause, stop", ("rank", "action")),
        Metric("failures", "counter", "failures of debug-tracer itself, which training did not notice"),
        Metric("loss", "gauge", "the loss that backward was called on", series=window.LOSS),
        Metric("val_loss", "gauge", "the loss of the last evaluation", series=window.VAL_LOSS),
        Metric("grad_l2", "gauge", "L2 norm of all gradients", series=window.GRAD_L2),
        Metric("param_l2", "gauge", "L2 norm of all parameters", series=window.PARAM_L2),
        Metric("learning_rate", "gauge", "learning rate of the first parameter group", series=window.LR),
        Metric("loss_scale", "gauge", "loss scale of a GradScaler", series=window.SCALE),
        Metric("step_seconds", "gauge", "from update to update, mean since the last look", series=window.STEP_S),
        Metric("wait_seconds", "gauge", "of these, waiting for batches", series=window.WAIT_S),
        Metric("own_seconds", "gauge", "of these, spent watching", series=window.OWN_S),
    )
}
