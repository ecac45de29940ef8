"""How a cause hears the checks: which findings are loud, which say its class, which of them are one family."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from debugtracer.trace.finding import Finding
from debugtracer.trace.lead import order

FAMILIES = {
    "gradient": (
        "model/gradient-limits", "model/vanishing-gradient", "numerics/gradient-underflow", "numerics/nonfinite-gradient", "optimizer/clip-nonfinite",
        "optimizer/clip-share", "optimizer/element-spike", "optimizer/embedding-gradient", "optimizer/exploding-grad", "optimizer/gradient-drift",
        "optimizer/second-moment-decoupled", "optimizer/second-moment-lag",
    ),
    "activation": (
        "model/activation-growth", "model/attention-scores", "model/dead-units", "model/init-scale", "model/logit-divergence", "model/saturated-activation",
    ),
    "loss": (
        "model/init-loss", "numerics/nan-loss", "optimizer/loss-divergence", "optimizer/loss-oscillation", "optimizer/loss-plateau", "optimizer/loss-spike",
        "optimizer/loss-too-good", "optimizer/metric-oscillation", "optimizer/validation-gap",
    ),
    "update": ("optimizer/no-update", "optimizer/sibling-imbalance", "optimizer/update-ratio", "optimizer/weight-norm-growth"),
    "scale": (
        "logging/loss-scale-leak", "numerics/half-headroom", "numerics/scaler-arguments", "numerics/scaler-backoff", "numerics/scaler-collapse",
    ),
    "rank": ("device/rank-overlap", "device/rank-skew", "device/replica-drift", "device/unfinished-reduction", "logging/rank0-only"),
    "order": (
        "optimizer/accum-scaling", "optimizer/clip-after-step", "optimizer/clip-before-unscale", "optimizer/double-unscale", "optimizer/sched-order",
        "optimizer/scaler-update-missing", "optimizer/step-missing", "optimizer/zero-grad-misplaced", "optimizer/zero-grad-missing",
    ),
}  # fmt: skip
"""Checks that see the same thing from different sides (CHECKS 5.2.1), by what they look at; those not named here are of the family of their layer."""
FAMILY_OF = {check: family for family, members in FAMILIES.items() for check in members}


@dataclass(frozen=True)
class Hearing:
    """The findings of one run, or of its last steps, with the questions that several causes ask."""

    findings: tuple[Finding, ...]

    @functools.cached_property
    def loud(self) -> list[Finding]:
        """Warnings and errors, the strongest first: exact before probable, sure before unsure, early before late."""
        return sorted((finding for finding in self.findings if finding.severity != "note"), key=order)

    def of(self, kind: str) -> list[Finding]:
        """Loud findings that diagnose this class, the strongest first."""
        return [finding for finding in self.loud if finding.kind == kind]

    def by(self, *checks: str) -> list[Finding]:
        """Loud findings of these checks (`layer/slug`), the strongest first."""
        return [finding for finding in self.loud if finding.check in checks]

    def families(self, *findings: Finding) -> frozenset[str]:
        """Families that these findings belong to; one counts once however many of it speak."""
        return frozenset(FAMILY_OF.get(finding.check, finding.layer) for finding in findings)
