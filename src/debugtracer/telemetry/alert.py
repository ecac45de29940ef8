"""What an alert of Alertmanager asks a run for: the label `debug_tracer_response` of one that fires."""

from __future__ import annotations

import msgspec

from debugtracer.errors import UsageError
from debugtracer.trace.store.schema import CONTROL_WORDS

LABEL = "debug_tracer_response"
GRAVEST = ("stop", "pause", "resume")


class Alert(msgspec.Struct, frozen=True):
    """One alert, as Alertmanager posts it (webhook, version 4); what else stands in it is not read."""

    status: str = "firing"
    labels: dict[str, str] = {}
    fingerprint: str = ""
    startsAt: str = ""


class AlertGroup(msgspec.Struct, frozen=True):
    """One post of Alertmanager."""

    alerts: tuple[Alert, ...] = ()


class ObeyedAlerts:
    """Those that a run was told of. An alert is obeyed once: it is posted again while it fires, also after a person has
    let the run go on."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()

    def word(self, group: AlertGroup, run: str) -> tuple[str, list[Alert]]:
        """The gravest word that new alerts have for this run, and these; empty without one. Raises UsageError where a
        label is no word."""
        asking = [
            alert
            for alert in group.alerts
            if alert.status == "firing"
            and LABEL in alert.labels
            and alert.labels.get("run", run) == run
            and self._key(alert) not in self.seen
        ]
        words = {alert.labels[LABEL] for alert in asking}
        unknown = sorted(words - set(CONTROL_WORDS))
        if unknown:
            raise UsageError(f"{LABEL}={unknown[0][:20]!a}: expected one of {', '.join(CONTROL_WORDS)}")
        return next((word for word in GRAVEST if word in words), ""), asking

    def obeyed(self, alerts: list[Alert]) -> None:
        """Take note of alerts that the run was told of."""
        self.seen |= {self._key(alert) for alert in alerts}

    def _key(self, alert: Alert) -> tuple[str, str]:
        labels = "\n".join(f"{name}={value}" for name, value in sorted(alert.labels.items()))
        return alert.fingerprint or labels, alert.startsAt
