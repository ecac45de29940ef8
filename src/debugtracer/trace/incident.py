"""The facts of an incident, which diagnosis judges. No torch."""

from __future__ import annotations

from typing import Literal

import msgspec

from debugtracer.trace.batch_setting import BatchSetting
from debugtracer.trace.birth import Birth, Frame
from debugtracer.trace.facts.schedule import RateMoved
from debugtracer.trace.facts.weights_at_rest import ValueChanged
from debugtracer.trace.number import Number
from debugtracer.trace.pipeline_birth import PipelineBirth
from debugtracer.trace.step import StepRef
from debugtracer.trace.whole_dataset import WholeDataset

Symptom = Literal["nan_loss", "inf_grad", "nan_output", "bad_update", "crash"]
RESTED = "its calls were not recorded, to stay under the promised cost (--cost 1 records every step)"
"""Why a step is not executed again from its tape."""

Mechanism = Literal["tape", "re-yield", "forward-only", "lines", "graph", "flight-record"]


SYMPTOMS: dict[Symptom, str] = {
    "nan_loss": "the loss is not finite",
    "inf_grad": "a gradient is not finite (the loss is)",
    "nan_output": "the model returned NaN",
    "bad_update": "the update wrote a non-finite parameter",
    "crash": "the program raised an exception",
}
"""Each in words, as titles and summaries say it."""


class LoaderFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The loader the batch came from."""

    dataset: str = ""
    dataset_len: int | None = None
    batch_size: int | None = None
    num_workers: int = 0
    sampler: str = ""
    frame: Frame | None = None
    """Where the user built the DataLoader."""
    indices: tuple[int, ...] | None = None
    """Dataset index of each row of the batch; None when it is not known."""
    keeps_order: bool = True
    """Row i is its i-th index; False where the collate_fn may sort or shuffle them."""
    whole: WholeDataset | None = None
    """Where the loader reads a Subset: the dataset below it, and its index of each row."""

    def in_whole(self, samples: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The index of these samples of a Subset in the dataset below it; None where one is not known."""
        if self.whole is None or self.indices is None or not samples:
            return None
        at = dict(zip(self.indices, self.whole.indices, strict=False))
        return tuple(at[index] for index in samples) if all(index in at for index in samples) else None


class OptimizerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The optimizer at the gate."""

    kind: str
    frame: Frame | None = None
    """Where the user built it."""
    lr: Number | None = None
    lr_frame: Frame | None = None
    """The line that says this rate, where that is not the constructor."""
    eps: Number | None = None
    param_dtypes: tuple[str, ...] = ()
    fused: bool = False
    scale: Number | None = None
    """Loss scale of an enabled GradScaler, else None."""


class ReplayFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How the step was executed again and how same it was."""

    mechanism: Mechanism
    reproduced: bool
    parity: str
    """One phrase: `bitwise` | `loss bitwise, gradients differ` | `anomaly only` | `not reproduced` |
    `not replayed: WHY`."""
    alarm_to_verdict_s: float = 0.0
    traced_slowdown: float | None = None
    """Traced replay / unchanged replay, ratio."""
    refused: tuple[str, ...] = ()
    """Mechanisms that were tried before and why they were refused."""
    compiled_only: bool = False
    """The step shows the fault when its compiled code runs again, and not when the same code runs eagerly."""
    compiled_at: Frame | None = None
    """The user's line that compiled it."""
    anomaly: str = ""
    """What torch's anomaly mode says of the step, where a backward has made the bad value; empty where it says
    nothing."""
    steps_back: int = 0
    """The weights with which it was executed were those of so many steps before."""

    @property
    def older_weights(self) -> str:
        """Say so, to be put behind how it was executed; empty where they were those of the step."""
        return f" with the weights of {self.steps_back} step{'s' * (self.steps_back > 1)} before" * bool(
            self.steps_back
        )


class WeightWrite(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the program that has written weights since the last update."""

    params: tuple[str, ...]
    op: str
    """The call that wrote, as torch names it."""
    frame: Frame
    source: Frame | None = None
    """The line that made the value, where it is known."""
    replayed: bool = False
    """A replay executes the call; else it begins with the weights after it."""


class IncidentFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one incident, gathered before any judgement."""

    ref: StepRef
    symptom: Symptom
    loss: Number | None = None
    grad_l2: Number | None = None
    birth: Birth | None = None
    symptom_frame: Frame | None = None
    """The user's line where it showed: where the loss met the bad value, or optimizer.step for a bad update."""
    loader: LoaderFacts | None = None
    optimizer: OptimizerFacts | None = None
    replay: ReplayFacts | None = None
    batch_rows: tuple[int, ...] | None = None
    held_in: str = ""
    """The tensor of the batch, e.g. `batch[1]`, whose rows these are by the number that the op was given: it stands
    there as the loader gave it."""
    sample_index: tuple[int, ...] | None = None
    bad_params: tuple[str, ...] = ()
    """Parameters (or their gradients) that are non-finite, in optimizer order."""
    recent: dict[str, list[Number]] = {}
    """Last values of the main series, oldest first, the bad one excluded."""
    rate: RateMoved | None = None
    """The learning rate in use, where it is no longer the one that the optimizer was built with."""
    changed: ValueChanged | None = None
    """A stored value that nothing should have written changed before this step."""
    written: tuple[WeightWrite, ...] = ()
    """The program's own writes into its weights since the last update, by line."""
    made: tuple[Frame, ...] = ()
    """The lines that wrote the value it began with, the one that made it first; empty where it was born in the step."""
    made_guessed: bool = False
    """The first of them is one that numpy warned of, and no name leads from it to the value."""
    pipeline: PipelineBirth | None = None
    """Where in the data pipeline a value of the batch became bad; None where the batch was good."""
    setting: BatchSetting | None = None
    """The number in all rows of the data that the op of birth could not take; None where single rows hold it."""
    ignored: str = ""
    """The integer tensor of the batch whose values are all one negative number, in words; empty where there is none."""
    cut: Frame | None = None
    """The line that cuts these labels to the width they have."""
    world_size: int = 1
    label_smoothing: float = 0.0
    """Of the loss call in which the value was born."""
    note: str = ""

    def frames(self) -> list[Frame]:
        """Every line of the user's that is known, the birth's first."""
        known = [*(self.birth.frames if self.birth else ()), self.symptom_frame]
        known += [self.loader.frame if self.loader else None, self.optimizer.frame if self.optimizer else None]
        known += [self.rate.scheduler_frame, self.rate.written] if self.rate else []
        known.append(self.optimizer.lr_frame if self.optimizer else None)
        known += [write.frame for write in self.written]
        known += [self.pipeline.frame, *self.pipeline.way, self.pipeline.record] if self.pipeline else []
        known += [self.setting.written, self.setting.frame] if self.setting else []
        known += [*self.made, self.cut, *(one.made_at for one in (self.birth.inputs if self.birth else ()))]
        return [frame for frame in known if frame is not None]
