"""Which setting of an optimizer changed on the way to a bad step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from debugtracer.recorder.state.step_history import StepHistory

# times as large in the steps that are kept, though never by a fifth at once (ours: a warm-up that lasts doubles in its
# first steps only)
GROWN = 1.5


@dataclass(frozen=True)
class SettingDelta:
    """One change of one setting of one group."""

    name: str
    before: float
    after: float
    step: int
    group: int
    since: int | None = None
    """First step, where it changed little by little."""

    @property
    def times(self) -> float:
        """How many times as large it became; 0 where it was 0."""
        return self.after / self.before if self.before else 0.0

    @property
    def description(self) -> str:
        """Format the change: `lr went from 0.001 to 0.03 (30 times) at step 498`."""
        when = f"at step {self.step}" if self.since is None else f"between steps {self.since} and {self.step}"
        return f"{self.name} of group {self.group} went from {self.before:g} to {self.after:g} {when}"


def deltas(past: StepHistory, least: float = 1.2) -> list[SettingDelta]:
    """The settings that changed by more than a fifth from one update to the next, not a schedule's small steps."""
    found: list[SettingDelta] = []
    begin: dict[tuple[int, int, str], tuple[float, int]] = {}
    last: dict[tuple[int, int, str], float] = {}
    for segment in past.segments:
        for number, entry in enumerate(e for e in segment.entries if e.kind == "step"):
            for group, settings in enumerate(entry.settings):
                for name, value in numbers(settings).items():
                    key = (number, group, name)
                    before = last.get(key)
                    if (
                        before is not None
                        and value != before
                        and (before == 0 or not 1 / least <= value / before <= least)
                    ):
                        found.append(SettingDelta(name, before, value, segment.first_step, group))
                    last[key] = value
                    begin.setdefault(key, (value, segment.first_step))
    return found + grown(begin, last, {(d.group, d.name) for d in found}, past.segments[-1].first_step)


def grown(
    begin: dict[tuple[int, int, str], tuple[float, int]],
    last: dict[tuple[int, int, str], float],
    told: set[tuple[int, str]],
    step: int,
) -> list[SettingDelta]:
    """The settings that went far in small steps (a schedule that compounds)."""
    return [
        SettingDelta(name, before, last[number, group, name], step, group, since)
        for (number, group, name), (before, since) in begin.items()
        if (group, name) not in told and before > 0 and last[number, group, name] >= GROWN * before
    ]


def numbers(settings: dict[str, Any]) -> dict[str, float]:
    """The settings that are numbers; betas one by one."""
    plain: dict[str, float] = {}
    for name, value in settings.items():
        parts = {f"{name}[{n}]": v for n, v in enumerate(value)} if isinstance(value, (tuple, list)) else {name: value}
        for part, one in parts.items():
            if isinstance(one, Tensor) and one.numel() == 1:
                one = float(one)
            if isinstance(one, (int, float)) and not isinstance(one, bool):
                plain[part] = float(one)
    return plain
