"""What is believed of the causes: bits for each, moved by what trials show. "Unknown" stands at 0 bits always.

How many bits for what: (docs/rationale/inference.md#likelihoods)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from debugtracer.diagnosis.proof.likelihood import UNKNOWN, healed

SURE = 0.999  # a rule is never surer than this before a trial (ours)


@dataclass
class Belief:
    """Bits per cause slug; higher is likelier."""

    bits: dict[str, float] = field(default_factory=dict)
    likelihood: Callable[[str, str], float] = healed

    @classmethod
    def of(cls, confidences: Mapping[str, float]) -> Belief:
        """Convert confidences, 0..1, to bits: even odds are 0 bits, level with unknown."""
        return cls(
            {
                UNKNOWN: 0.0,
                **{slug: math.log2(min(c, SURE) / (1 - min(c, SURE))) for slug, c in confidences.items() if c > 0},
            }
        )

    def shares(self) -> dict[str, float]:
        """The probability of each, summing to 1, likeliest first."""
        weights = {slug: 2.0**bits for slug, bits in self.bits.items()}
        total = sum(weights.values())
        return dict(sorted(((slug, w / total) for slug, w in weights.items()), key=lambda item: (-item[1], item[0])))

    def observe(self, intervention: str, was_healed: bool) -> None:
        """Update by Bayes: each cause gains what it expected of this outcome."""
        for slug in self.bits:
            p = self.likelihood(slug, intervention)
            self.bits[slug] += math.log2(p if was_healed else 1 - p)
        zero = self.bits[UNKNOWN]
        self.bits = {slug: bits - zero for slug, bits in self.bits.items()}

    def entropy(self) -> float:
        """The entropy of the belief in bits."""
        return -sum(p * math.log2(p) for p in self.shares().values() if p > 0)

    def gain(self, intervention: str) -> float:
        """The bits of entropy that this trial is expected to take away."""
        shares = self.shares()
        heals = sum(p * self.likelihood(slug, intervention) for slug, p in shares.items())
        left = 0.0
        for outcome, chance in ((True, heals), (False, 1 - heals)):
            if chance > 0:
                after = Belief(dict(self.bits), self.likelihood)
                after.observe(intervention, outcome)
                left += chance * after.entropy()
        return self.entropy() - left
