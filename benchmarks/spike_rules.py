"""The rules of others, as their code or paper has them, and ours, behind one word: `push(value) -> alarm`."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable
from typing import Protocol

from debugtracer.spikes.change import DOUBT
from debugtracer.spikes.detector import Detector
from debugtracer.spikes.residual import WIDTH, Residuals, line, middle
from debugtracer.trace.step import StepRef


class Rule(Protocol):
    """One detector on one series."""

    def push(self, value: float) -> bool:
        """Whether this value is an alarm."""
        ...


class Sigma:
    """Distance from the mean of the last values in standard deviations."""

    def __init__(self, sigma: float, window: int, least: int, included: bool) -> None:
        self.sigma, self.least, self.included = sigma, least, included
        self.past: deque[float] = deque(maxlen=window)

    def push(self, value: float) -> bool:
        """Two-sided."""
        values = [*self.past, value] if self.included else list(self.past)
        self.past.append(value)
        if len(values) < self.least:
            return False
        spread = statistics.pstdev(values)
        return spread > 0 and abs(value - statistics.fmean(values)) > self.sigma * spread


class ZClip:
    """EWMA of mean and variance, alpha 0.97, z > 2.5, 25 values of warm-up, learns the clipped value (ZClip 2025, its
    defaults)."""

    def __init__(self, z: float = 2.5, alpha: float = 0.97, warm: int = 25) -> None:
        self.z, self.alpha, self.warm = z, alpha, warm
        self.first: list[float] = []
        self.mean = self.var = 0.0

    def push(self, value: float) -> bool:
        """One-sided."""
        if len(self.first) < self.warm:
            self.first.append(value)
            if len(self.first) == self.warm:
                self.mean, self.var = statistics.fmean(self.first), statistics.pvariance(self.first)
            return False
        spread = math.sqrt(self.var) + 1e-6
        z = (value - self.mean) / spread
        alarm = z > self.z
        learnt = self.mean + self.z**2 / z * spread if alarm else value
        self.mean = self.alpha * self.mean + (1 - self.alpha) * learnt
        self.var = self.alpha * self.var + (1 - self.alpha) * (learnt - self.mean) ** 2
        return alarm


class Lightning:
    """SpikeDetection: three times the running mean of 10 (rtol 2.0), and not better than the last value."""

    def __init__(self) -> None:
        self.past: deque[float] = deque(maxlen=10)
        self.last = 0.0

    def push(self, value: float) -> bool:
        """Spikes are not learnt."""
        mean = statistics.fmean(self.past) if self.past else value
        alarm = bool(self.past) and value >= self.last and abs(value - mean) >= 2.0 * abs(mean)
        if not alarm:
            self.past.append(value)
            self.last = value
        return alarm


class Megatron:
    """Ten times the largest of the first 100 values."""

    def __init__(self) -> None:
        self.largest, self.count = 0.0, 0

    def push(self, value: float) -> bool:
        """One-sided."""
        self.count += 1
        if self.count <= 100:
            self.largest = max(self.largest, value)
            return False
        return value > 10.0 * self.largest


class RobustZ:
    """A fixed threshold on residuals against the median line, of the value itself or of its logarithm."""

    def __init__(self, z: float, log: bool) -> None:
        self.z, self.log = z, log
        self.past: deque[float] = deque(maxlen=WIDTH)
        self.residuals = Residuals()

    def push(self, value: float) -> bool:
        """One-sided."""
        if self.log:
            reading = self.residuals.push(value)
            return reading is not None and len(self.residuals.raw) == WIDTH and reading.z > self.z
        values = list(self.past)
        self.past.append(value)
        if len(values) < WIDTH:
            return False
        slope, intercept, rest = line(values)
        return value - intercept - slope * WIDTH > self.z * max(middle(sorted(map(abs, rest))), 1e-12)


class Ours:
    """The detector of debugtracer: `point` at the first value of a spike, `change` at a confirmed change of level,
    `suspicion` at once."""

    def __init__(self, which: str, least_rise: float) -> None:
        self.which, self.detector, self.step = which, Detector(least_rise), -1

    def push(self, value: float) -> bool:
        """Each episode is one alarm."""
        self.step += 1
        news = self.detector.push(value, StepRef(iteration=self.step, step=self.step))
        new = [one for one in news if one.shape is None]
        point = any(one.sudden for one in new)
        change = any(not one.sudden and one.confirmed for one in new)
        suspicion = any(not one.sudden and not one.confirmed for one in new)
        return {"point": point, "change": change, "both": point or change, "suspicion": point or suspicion}[self.which]


def rules(least_rise: float) -> dict[str, Callable[[], Rule]]:
    """Name -> a fresh rule."""
    return {
        "3 sigma / 100, current included (seed)": lambda: Sigma(3.0, 100, 100, True),
        "EWMA z > 2.5 (ZClip)": ZClip,
        "3 x mean of 10 (Lightning)": Lightning,
        "6 sigma / 128 (OLMo-core)": lambda: Sigma(6.0, 128, 64, False),
        "10 x max of 100 (Megatron)": Megatron,
        "robust z > 6, value": lambda: RobustZ(6.0, False),
        "robust z > 6, log": lambda: RobustZ(6.0, True),
        "ours, point": lambda: Ours("point", least_rise),
        "ours, change": lambda: Ours("change", least_rise),
        "ours, point or change": lambda: Ours("both", least_rise),
        "ours, with suspicions": lambda: Ours("suspicion", least_rise),
    }


assert DOUBT == 0.5, "the published figures are for this setting"
