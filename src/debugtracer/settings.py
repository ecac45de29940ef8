"""Every setting of a run in one frozen value: keyword = environment variable, and for those of FLAGS also an option of
`debug-tracer run`."""

from __future__ import annotations

import dataclasses
import enum
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from debugtracer.checks.presets import PRESETS
from debugtracer.errors import UsageError
from debugtracer.notify.webhook import check_address
from debugtracer.trace.finding import OFF, SEVERITIES

PREFIX = "DEBUG_TRACER_"
FAIL_ON = (OFF, *SEVERITIES)
PLACES = ("auto", "device", "host")
MOST_CHARS = 60  # of a wrong value in a message


# what `debug-tracer run` takes as an option: what differs from run to run
FLAGS = (
    "out",
    "name",
    "mode",
    "capture",
    "fail_on",
    "preset",
    "cost",
    "inspect_steps",
    "function_tests",
    "trials",
    "respond",
    "skip_list",
    "webhook",
    "apprise",
    "metrics_port",
    "otlp",
)


class Mode(str, enum.Enum):
    """What debug-tracer may do: observe reports only, dev stops, val leaves a bad update out, prod goes back too."""

    OBSERVE = "observe"
    DEV = "dev"
    VAL = "val"
    PROD = "prod"


class Gate(str, enum.Enum):
    """How the canary is read before the update (docs/rationale/replay.md#gate)."""

    AUTO = "auto"
    SYNC = "sync"
    DEVICE = "device"
    LATE = "late"


class GateNorms(str, enum.Enum):
    """What measures gradients on a device: torch's operators, or two kernels of Triton (docs/devices.md#kernels)."""

    TORCH = "torch"
    TRITON = "triton"


class Switch(str, enum.Enum):
    """On or off."""

    ON = "on"
    OFF = "off"


class Capture(str, enum.Enum):
    """How much is kept of each step: the whole step (replayable), or the canary numbers alone."""

    STEP = "step"
    CANARY = "canary"


@dataclass(frozen=True)
class Settings:
    """Settings of one run. Each field is DEBUG_TRACER_FIELD and a keyword of `watch()`; those of FLAGS are options of
    `debug-tracer run` too.

    The others are no options because they do not change from run to run: budgets of bytes and seconds, the gate and the
    place of snapshots are set once for a machine, the library once for a team; `run_dir` is the supervisor's own, and
    `trial_order` is there for a baseline of ours.
    """

    out: Path = Path("debug-tracer-runs")  # folder of runs
    name: str = ""  # run id; made from date and program when empty
    mode: Mode = Mode.DEV
    capture: Capture = Capture.STEP
    fail_on: str = "off"  # off, note, warning, error
    preset: str = "default"  # options of the checks: default, or seed for the thresholds of the articles
    run_dir: Path | None = None  # set by the supervisor for its children
    flush_steps: int = 100  # steps between two flushes of series (docs/rationale/performance.md#storage)
    flush_s: float = 2.0  # seconds between two flushes at most
    run_bytes: int = 2 * 1024**3  # bytes of series kept per run and rank; older rows are thinned above it
    copy_bytes: int = 4 * 1024**3  # bytes of parameters and optimizer state copied per step in dev at most
    ring_bytes: int = 1024**3  # bytes of snapshots of parameters and moments at most, for spikes of the loss; 0: none
    ring_place: str = "auto"  # auto, device, host: where snapshots lie; auto: host memory where a device lacks room
    capsule_bytes: int = 2 * 1024**3  # bytes of inputs in a capsule; a larger step is not saved, the verdict says so
    cost: float = 0.03  # share of training time that watching may take; 1: no limit (docs/cost.md)
    own_share: float = 0.02  # share of step time for copies, else they back off (docs/rationale/performance.md#budget)
    gate: Gate = Gate.AUTO  # auto, sync, device, late (docs/rationale/replay.md#gate)
    gate_norms: GateNorms = GateNorms.TORCH  # torch, triton: its kernels for the gate on CUDA (docs/devices.md#kernels)
    inspect_steps: int = 100  # steps between close looks, after the first 3; 0: none (docs/rationale/checks.md#cadence)
    function_tests: Switch = Switch.ON  # forwards of a copy, first step (docs/rationale/checks.md#function-tests)
    trials: int = 8  # trials per incident at most; 0: none (docs/rationale/inference.md#choice-of-trials)
    trials_s: float = 30.0  # seconds of work an incident at most (docs/rationale/inference.md#choice-of-trials)
    ranks_s: float = 120.0  # seconds that ranks wait for one that looks into a fault; then each goes on by itself
    trial_order: str = "information"  # information, or random for the baseline of the scoreboard
    library: Path | None = None  # file (or folder) of the team's library of cured incidents; default: beside the runs
    last_good_s: float = 60.0  # seconds between two saved states in val and prod at least; 0: at a stop alone
    webhook: str = ""  # address that is told of stops, roll-backs and the end of a run; nothing leaves without one
    apprise: str = ""  # addresses of mail and chat services, as apprise writes them, that are told the same
    notify: str = "warning"  # note, warning, error: the least that these are told
    metrics_port: int | None = None  # port at which `debug-tracer run` gives out metrics; 0: any free; None: none
    metrics_host: str = "127.0.0.1"  # address at which it listens for that; the default is reached from here alone
    alert_token: str = ""  # whoever has it may post alerts there that pause or stop the run; without one nobody may
    otlp: str = ""  # address of a collector for OpenTelemetry (OTLP/HTTP); nothing leaves without one
    respond: str = ""  # cause=response,cause=response: what answers a cause in place of the smallest that may help
    pause_s: float | None = None  # seconds that a run which cannot go on waits for a word; 0: none; None: if attended
    skip_list: Path | None = None  # a skipped.jsonl: the samples that it calls guilty are left out from the start
    resume: Path | None = None  # folder of saved states to go on from, set by `debug-tracer resume`
    resume_step: int = 0  # the step of the state that it goes on from
    lr_scale: float = 1.0  # what learning rates are multiplied by when it does
    fresh_optimizer: Switch = Switch.OFF  # on: it goes on without the moments of the optimizer
    incidents: int = 5  # incidents replayed per rank at most; later ones are recorded only

    @property
    def acts(self) -> bool:
        """Whether a bad step is answered so that the program can go on."""
        return self.mode in (Mode.VAL, Mode.PROD) and self.capture is Capture.STEP

    @classmethod
    def from_env(cls, environ: Mapping[str, str] = os.environ, **overrides: object) -> Settings:
        """Read DEBUG_TRACER_* variables; keywords win. Raises UsageError naming the variable and the allowed values."""
        hints = typing.get_type_hints(cls)
        values: dict[str, object] = {}
        for field in dataclasses.fields(cls):
            if field.name in overrides:
                values[field.name] = convert(field.name, hints[field.name], overrides[field.name])
            elif PREFIX + field.name.upper() in environ:
                values[field.name] = convert(
                    PREFIX + field.name.upper(), hints[field.name], environ[PREFIX + field.name.upper()]
                )
        unknown = set(overrides) - set(hints)
        if unknown:
            raise UsageError(f"no such setting: {', '.join(sorted(unknown))}; known are {', '.join(hints)}")
        return cls(**values)  # type: ignore[arg-type]

    def to_env(self) -> dict[str, str]:
        """The variables that give a child process these settings."""
        return {
            PREFIX + f.name.upper(): plain(getattr(self, f.name))
            for f in dataclasses.fields(self)
            if getattr(self, f.name) not in (None, "")
        }


def plain(value: object) -> str:
    """The text of a setting in the environment."""
    return str(value.value) if isinstance(value, enum.Enum) else str(value)


def convert(name: str, kind: typing.Any, value: object) -> object:
    """Convert one setting from its text. Raises UsageError."""
    kinds = [k for k in (typing.get_args(kind) or (kind,)) if k is not type(None)]
    kind = kinds[0]
    if value is None:
        return value
    try:
        if kind is Path and value == "":
            raise ValueError
        made = value if isinstance(value, kind) else kind(value)
    except (ValueError, TypeError):
        allowed = ", ".join(m.value for m in kind) if issubclass(kind, enum.Enum) else kind.__name__
        raise UsageError(f"{name} is {shown(value)}; expected {allowed}") from None
    check_range(name, made)
    return made


def check_range(name: str, value: object) -> None:
    """Check words that are no enum, and numbers below 0. Raises UsageError."""
    field = name.removeprefix(PREFIX).lower()
    words = {
        "fail_on": FAIL_ON,
        "preset": tuple(PRESETS),
        "ring_place": PLACES,
        "notify": SEVERITIES,
    }.get(field, (value,))
    if field in ("webhook", "otlp"):
        check_address(str(value), name)
    if value not in words:
        raise UsageError(f"{name} is {shown(value)}; expected {', '.join(map(str, words))}")
    if isinstance(value, (int, float)) and not value >= 0:
        raise UsageError(f"{name} is {shown(value)}; expected 0 or more")


def shown(value: object) -> str:
    """A value as it was given, cut where it is longer than a sentence can hold."""
    return repr(value) if len(repr(value)) <= MOST_CHARS else f"{repr(value)[:MOST_CHARS]}..."
