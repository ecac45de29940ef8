"""The trials of a copy of a model, one after the other: what may change its outputs, and what must?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from debugtracer.callsites.frames import frames_of
from debugtracer.observers.model.difference import difference
from debugtracer.observers.model.fixed_draws import FixedDraws
from debugtracer.observers.model.late_mask_trial import late_mask
from debugtracer.observers.model.mixing_call import reaching_call
from debugtracer.observers.model.noise_trials import dropout_left_on
from debugtracer.observers.model.own_row_trial import own_row
from debugtracer.observers.model.position_trials import other_positions
from debugtracer.observers.model.reading_trials import reading_order
from debugtracer.observers.model.recorded_call import RecordedCall, first_samples
from debugtracer.observers.model.recurrent_trials import along_time, over_batch
from debugtracer.observers.model.row_order_trial import row_order
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel
from debugtracer.observers.model.stilled_draws import StilledDraws
from debugtracer.observers.model.token_trials import later_tokens, own_token, shifted_token
from debugtracer.observers.model.window_trials import target_window
from debugtracer.trace.facts.function_test import FIRST

SLOW_S = 1.0  # a first run that takes longer is the last (ours)

Trials = dict[str, dict[str, Any]]
"""What was found, by trial."""


def tried(
    kept: RecordedCall, target: Tensor | None, answer: Tensor | None, made: ShadowModel | Exception
) -> Iterator[Trials | None]:
    """Run all trials of one root, one after the other: yield nothing between them, and what they found at last. What
    the model raises ends them, but for the trial of its rows, which is given the whole batch."""
    rows: Trials = {}
    try:
        if isinstance(made, Exception):
            raise made
        for found in own_row(made, kept, target, answer):
            rows |= {"own_row": found} if found is not None else {}
            if found is None:
                yield None
        late = late_mask(made, kept, target)
        rows |= {"late_mask": late} if late is not None else {}
        yield None
        for trial in trials(made, kept, target, answer):
            if trial is not None and trial.get("own_token", {}).get("changed", False):
                rows.pop("late_mask", None)  # it says the same
            yield trial if trial is None else rows | trial
    except Exception as error:
        yield rows | {"skipped": {"why": f"{type(error).__name__}: {str(error)[:120]}"}}


def trials(
    shadow: ShadowModel, kept: RecordedCall, target: Tensor | None, answer: Tensor | None
) -> Iterator[Trials | None]:
    """The same of a copy. Raises what the model raises."""
    args, kwargs, samples = first_samples(kept)
    begin = perf_counter()
    base, seen = shadow.run(args, kwargs)
    if perf_counter() - begin > SLOW_S or base is None or not bool(torch.isfinite(base).all()):
        yield {"skipped": {"why": "slow, or no finite output"}}
        return
    yield None
    draw_on(base.device)
    again, _ = shadow.run(args, kwargs)
    if again is None or not torch.equal(base, again):
        yield noisy(shadow, kept, args, kwargs, answer)
        return
    found: dict[str, dict[str, Any] | None] = {}
    yield None
    found["later_tokens"] = later_tokens(shadow, args, kwargs, base, seen, target)
    yield None
    found["row_order"] = row_order(shadow, kept)
    yield None
    found["own_token"] = own_token(shadow, args, kwargs, base, target)
    found["shifted_token"] = shifted_token(shadow, args, kwargs, base, target)
    found["target_window"] = target_window(shadow, kept.whole(), args, kwargs, base, answer)
    if samples > 1 and base.shape[0] == samples:
        if not kept.rows_second and not pairs_samples(shadow, kept, base, samples):
            yield None
            leak = other_samples(shadow, args, kwargs, base, seen, samples)
            if leak is not None:
                found["over_batch"] = over_batch(shadow.model, leak, base, seen, samples)
            if kept.rows_first or found.get("over_batch") or not along_time(shadow.model, leak, base, seen, samples):
                found["other_samples"] = leak
        yield None
        found["any_input"] = any_input(shadow, args, kwargs, base, samples)
        yield None
        found["other_positions"] = other_positions(shadow, args, kwargs, base, samples)
        yield None
        wanted = target if answer is None else answer
        found["reading_order"] = reading_order(shadow, kept.whole(), args, kwargs, base, wanted)
    yield {trial: facts for trial, facts in found.items() if facts is not None}


def noisy(
    shadow: ShadowModel, kept: RecordedCall, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Tensor | None
) -> Trials:
    """What can be said of a copy whose runs differ: a dropout that is never off, and whether the target is among the
    input where all that it draws is which positions it looks at; with its noise at the mean, whether it puts its rows
    back in their order."""
    found: Trials = {"skipped": {"why": "two runs in evaluation mode differ"}}
    left_on = dropout_left_on(shadow, args, kwargs)
    if left_on is not None:
        return {"dropout_left_on": left_on} | found
    fixed = FixedDraws(shadow)
    base = fixed.first(args, kwargs) if answer is not None else None
    window = target_window(fixed, kept.whole(), args, kwargs, base, answer) if base is not None else None
    stilled = StilledDraws(shadow)
    order = row_order(stilled, kept) if stilled.settles(args, kwargs) else None
    return {name: one for name, one in (("target_window", window), ("row_order", order)) if one} | found


def draw_on(device: torch.device) -> None:
    """Let every generator move on: they were put back since the last trial, and noise must be other noise."""
    torch.rand(1), random.random(), np.random.random()
    if device.type != "cpu":
        torch.rand(1, device=device)


def pairs_samples(shadow: ShadowModel, kept: RecordedCall, base: Tensor, samples: int) -> bool:
    """True for an output of every sample with every other, which has a column fewer when a sample is left out."""
    if samples < 3 or base.dim() < 2 or base.shape[1] != samples:
        return False
    args, kwargs, fewer = first_samples(kept, samples - 1)
    output, _ = shadow.run(args, kwargs)
    return output is not None and output.shape[:2] == (fewer, fewer)


def other_samples(
    shadow: ShadowModel,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    base: Tensor,
    seen: list[RecordedForward],
    samples: int,
) -> dict[str, Any] | None:
    """The first sample's output may not depend on the others, nor the last one's: what runs along the batch, as a
    recurrent layer that takes it for time, leaves the first alone. Where the others but the first may change, the first
    alone: an index that is not moved to each sample's own place reads from the first one."""
    found = None
    # one sample over and over: a sum over the batch would not see a permutation
    for sample, other in ((0, 1), (samples - 1, 0), (samples - 1, 1 if samples > 2 else 0)):

        def mixed(value: Any, sample: int = sample, other: int = other) -> Any:
            if not isinstance(value, Tensor) or not value.dim() or value.shape[0] != samples:
                return value
            mixture = value[other : other + 1].repeat(samples, *(1,) * (value.dim() - 1))
            mixture[sample] = value[sample]
            return mixture

        def part(value: Tensor, sample: int = sample) -> Tensor | None:
            rows = value.shape[0] // samples if value.dim() and value.shape[0] % samples == 0 else 0
            return value[sample * rows : (sample + 1) * rows] if rows else None

        changed = tuple(map(mixed, args)), {name: mixed(value) for name, value in kwargs.items()}
        output, now = shadow.run(*changed)
        if output is None:
            return found
        found = difference(base, output, seen, now, part) | {"position": sample}
        if found["changed"] and sample and other:
            frames = frames_of(reaching_call(shadow, (args, kwargs), changed, part, samples))
            return found | ({"function": FIRST, "frame": frames[0]} if frames else {})
        if found["changed"]:
            break
    return found


def any_input(
    shadow: ShadowModel, args: tuple[Any, ...], kwargs: dict[str, Any], base: Tensor, samples: int
) -> dict[str, Any] | None:
    """Test that the outputs change when samples change places, unless something starts at 0."""
    if any(not bool(p.any()) for name, p in shadow.model.named_parameters() if not name.endswith("bias")):
        return None

    def turned(value: Any) -> Any:
        return value.roll(1, 0) if isinstance(value, Tensor) and value.dim() and value.shape[0] == samples else value

    moved = [turned(v) for v in (*args, *kwargs.values())]
    same = [torch.equal(a, b) for a, b in zip(moved, (*args, *kwargs.values()), strict=True) if isinstance(a, Tensor)]
    if all(same):
        return None
    output, _ = shadow.run(tuple(moved[: len(args)]), dict(zip(kwargs, moved[len(args) :], strict=True)))
    return None if output is None else {"changed": torch.equal(output, base)}
