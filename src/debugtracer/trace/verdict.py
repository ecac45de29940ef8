"""The verdict: ranked suspects with evidence, trials and remedies (contract DESIGN 3.3)."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import BirthKind, ChainLink, Direction
from debugtracer.trace.finding import Layer
from debugtracer.trace.step import Phase

Status = Literal["confirmed", "likely", "possible", "unknown"]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One intervention and its outcome."""

    intervention: str
    outcome: str
    repeats: int = 1


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A further cause under suspicion. `kind` is written as `class` in JSON."""

    kind: str = msgspec.field(name="class")
    cause: str
    confidence: float
    status: Status


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Field meanings: DESIGN 3.3. `kind` is written as `class` in JSON."""

    kind: str | None = msgspec.field(name="class")
    cause: str | None
    symptom: str
    layer: Layer
    iteration: int
    step: int
    microbatch: int = 0
    rank: int = 0
    phase: Phase = "loss"
    module: str | None = None
    op: str | None = None
    direction: Direction | None = None
    backward_op: str | None = None
    birth_kind: BirthKind | None = None
    file: str | None = None
    line: int | None = None
    symptom_line: int | None = None
    chain: tuple[ChainLink, ...] = ()
    param: str | None = None
    batch_rows: tuple[int, ...] | None = None
    sample_index: tuple[int, ...] | None = None
    status: Status = "unknown"
    confidence: float = 0.0
    summary: str = ""
    remedy: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    suspects: tuple[Suspect, ...] = ()
