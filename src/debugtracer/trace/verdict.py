"""The verdict: ranked suspects with evidence, trials and remedies."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.birth import BirthKind, ChainLink, Direction
from debugtracer.trace.finding import Layer
from debugtracer.trace.number import Number
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.step import Phase

Status = Literal["confirmed", "likely", "possible", "unknown"]
LIKELY, POSSIBLE = 0.7, 0.4  # confidence from which on a cause is called so (docs/rationale/inference.md#status)
SUSPECTS = 4  # further causes named beside the first


def word(confidence: float) -> Status:
    """The word for a confidence without a proof; never `confirmed`."""
    return "likely" if confidence >= LIKELY else "possible" if confidence >= POSSIBLE else "unknown"


Outcome = Literal["healed", "not healed", "reproduced", "not reproduced", "could not run"]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One intervention on the failing step and what came of it. `unchanged` is reproduced or not; all others heal or
    not, or could not run."""

    intervention: str
    """Slug, with `=VALUE` where it takes one: `larger-eps=1e-06`."""
    outcome: Outcome
    repeats: int = 1
    loss: Number | None = None
    """Loss of the step; None where no loss was computed. Of a trial by training: the mean over its repeats."""
    spread: Number | None = None
    """Standard deviation of that loss over the repeats, each with another order of the batches; None of a trial of
    recorded steps."""
    grad_l2: Number | None = None
    """L2 norm of all gradients; None where no backward ran."""
    probe_loss: Number | None = None
    """Loss of a recorded healthy batch after the update; None where the update was not replayed."""
    bad_op: str | None = None
    """First op with a non-finite output, None where all are finite or it was not looked for."""
    seconds: float = 0.0
    note: str = ""
    """What was changed, in words with numbers; why it could not run."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A small change of the user's code: one line out, one or more in."""

    file: str
    line: int
    before: str
    """The line as it is, stripped."""
    after: tuple[str, ...]
    """The lines in its place, stripped."""
    edit: str = ""
    """Name of the edit (causes/rewrite/rewritten.py), which says what trials are of its kind; empty for one of a
    cause's own."""


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A further cause under suspicion. `kind` is written as `class` in JSON."""

    kind: str = msgspec.field(name="class")
    cause: str
    confidence: float
    status: Status


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the fields mean: (docs/rationale/contracts.md#fields). `kind` is written as `class` in JSON."""

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
    whole_index: tuple[int, ...] | None = None
    """The same samples in the dataset below a Subset; None without one."""
    status: Status = "unknown"
    confidence: float = 0.0
    summary: str = ""
    remedy: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    change: Change | None = None
    """The first remedy as a change at the user's own line, where it is one."""
    tested: str = ""
    """What the failing step did with that remedy: `with clamp_min(1e-06) at model.py:88: loss 2.31, gradients finite`;
    empty when nothing was tried."""
    evidence: tuple[str, ...] = ()
    """What speaks for the cause, strongest first."""
    against: tuple[str, ...] = ()
    """What speaks against it."""
    equivalents: tuple[str, ...] = ()
    """Classes that the same trials cannot separate from it."""
    seconds: float = 0.0
    """From the alarm to this verdict, replays and trials included; 0 where nothing was executed again."""
    known: str = ""
    """What the team's library says of this fingerprint: `seen in run X on DATE, cured by Y`; empty when it was never
    seen."""
    pipeline: PipelineBirth | None = None
    """Where between the stored record and the batch a value became bad; null where the batch was good."""
