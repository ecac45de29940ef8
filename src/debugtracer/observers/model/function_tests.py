"""Tests the model as a function, once, after the first backward: what may later tokens and other samples change, does
the input matter?"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin, copied_at
from debugtracer.callsites.origins.mask_origin import mask_made
from debugtracer.callsites.origins.value_origin import made_first
from debugtracer.observers.model.difference import difference
from debugtracer.observers.model.noise_trials import dropout_left_on
from debugtracer.observers.model.position_trials import other_positions
from debugtracer.observers.model.recurrent_trials import over_batch
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import RecordedForward, ShadowModel, unnoticed
from debugtracer.observers.model.side_effects import side_effect
from debugtracer.observers.model.token_trials import later_tokens, own_token, shifted_token
from debugtracer.observers.model.window_trials import Answers, target_window
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.tape.entry import autocast_state
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.facts.loss_call import ELEMENTWISE, INDEXED, LOSSES

MODEL_BYTES = 200 * 1024**2  # a larger model is not copied (ours)
INPUT_BYTES = 32 * 1024**2  # nor kept are larger inputs (ours)
SAMPLES = 4  # samples of the batch that are used (ours)
SLOW_S = 1.0  # a first run that takes longer is the last (ours)
ROOTS = 3  # roots that are tested (ours)
PLAIN = (int, float, str, bool, type(None))


class RecordedCall:
    """The first call of a root."""

    def __init__(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = tuple(copied(value) for value in args)
        self.kwargs = {name: copied(value) for name, value in kwargs.items()}
        self.autocast = autocast_state()

    def tensors(self) -> list[Tensor]:
        """The tensors that were kept, arguments first."""
        return [value for value in (*self.args, *self.kwargs.values()) if isinstance(value, Tensor)]


class FunctionTestsObserver(Observer):
    """A handful of extra forwards of a deep copy; the program's model, generators and gradients are not touched."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.kept: list[RecordedCall] = []
        self.targets: list[Tensor] = []
        self.stack: tuple[Frame, ...] = ()
        """Of the first cross-entropy."""
        self.loss_of = ""
        """The class of a library's model that computes the loss itself."""
        self.answers = Answers(run.batches)
        self.done = False

    def reset(self) -> None:
        self.kept.clear()
        self.targets.clear()
        self.answers.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the inputs of the first calls."""
        root = self.run.state.roots.get(module)
        if (
            self.done
            or not self.run.function_tests
            or self.run.iteration
            or len(self.kept) >= ROOTS
            or not torch.is_grad_enabled()
            or root is None
        ):
            return
        if (
            not root.has_parameters
            or any(k.module is module for k in self.kept)
            or not simple((*args, *kwargs.values()))
        ):
            return
        if refused(module) is None and not root.draws.draws:
            self.kept.append(RecordedCall(module, args, kwargs))

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the targets of the first cross-entropy or divergence, to see whether the next token is predicted, and
        those of a loss of numbers."""
        if self.done or (name := getattr(function, "__name__", "")) not in LOSSES or name == "ctc_loss":
            return
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if name in ELEMENTWISE and torch.is_grad_enabled():
            self.answers.keep(target if isinstance(target, Tensor) and simple((target,)) else None)
        if self.targets or name not in (*INDEXED, "kl_div"):
            return
        if isinstance(target, Tensor) and target.nbytes <= INPUT_BYTES and (picked := likeliest(target)) is not None:
            self.targets.append(picked)
            self.stack, self.loss_of = user_frames(), library_model(running_module())

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Test what was kept when the first backward is over, and release it."""
        self.run.unsubscribe(self.left, self.backward_ended)
        if self.done:
            return
        self.done = True
        kept, targets, self.kept, self.targets = self.kept, self.targets, [], []
        answer = self.answers.only()
        self.answers.clear()
        for number_of, one in enumerate(kept):
            name = type(one.module).__name__ + (f" {number_of}" if number_of else "")
            why = (
                side_effect(one.module)
                if nn.Module.__call__ is nn.Module._wrapped_call_impl
                else "the program has replaced nn.Module.__call__"
            )
            if why is not None:
                self.run.emit(FunctionTest(ref=self.run.ref("forward", 0), trial="skipped", root=name, why=why))
                continue
            with unnoticed(self.run.disabled):
                found = tests(one, targets[0] if targets else None, answer.target if answer else None)
            if answer is not None and "target_window" in found:
                found["target_window"] |= {"frame": answer.frame, "made": answer.made()}
            for trial in found.keys() & {"own_token", "shifted_token"}:
                found[trial] |= {"frame": self.stack[0] if self.stack else None, "loss_of": self.loss_of}
                links = argument_origin(self.stack, INDEXED, "target", 1)
                copied = copied_at(links) if trial == "own_token" else None
                found[trial]["made"] = (copied,) if copied is not None else made_first(links, cut=True)
            for trial, facts in found.items():
                stack = facts.pop("stack", ())
                if trial == "later_tokens" and stack:
                    facts["made"] = mask_made(stack)
                self.run.emit(FunctionTest(ref=self.run.ref("forward", 0), trial=trial, root=name, **facts))  # type: ignore[arg-type]


def likeliest(target: Tensor) -> Tensor | None:
    """The classes of the targets, those of a smoothed distribution by their largest probability; -100 where a row of
    it holds nothing. None for other numbers."""
    if not target.is_floating_point():
        return target.detach().clone()
    if target.dim() != 2 or target.shape[1] < 2:
        return None
    top, classes = target.detach().max(1)
    return torch.where(top > 0, classes, torch.full_like(classes, -100))


def library_model(module: nn.Module | None) -> str:
    """The class of a model with weights that a library defines; empty for the user's own and for a loss."""
    if module is None or next(module.parameters(), None) is None:
        return ""
    file = getattr(sys.modules.get(type(module).__module__), "__file__", None)
    return type(module).__name__ if file and not is_user_file(file) else ""


def tests(kept: RecordedCall, target: Tensor | None, answer: Tensor | None) -> dict[str, dict[str, Any]]:
    """Run all trials of one root; what the model raises ends them."""
    try:
        shadow = ShadowModel(kept.module, kept.autocast)
        args, kwargs, samples = first_samples(kept)
        begin = perf_counter()
        base, seen = shadow.run(args, kwargs)
        if perf_counter() - begin > SLOW_S or base is None or not bool(torch.isfinite(base).all()):
            return {"skipped": {"why": "slow, or no finite output"}}
        again, _ = shadow.run(args, kwargs)
        if again is None or not torch.equal(base, again):
            noisy = dropout_left_on(shadow, args, kwargs)
            skipped = {"skipped": {"why": "two runs in evaluation mode differ"}}
            return skipped if noisy is None else {"dropout_left_on": noisy} | skipped
        found = {
            "later_tokens": later_tokens(shadow, args, kwargs, base, seen, target),
            "own_token": own_token(shadow, args, kwargs, base, target),
            "shifted_token": shifted_token(shadow, args, kwargs, base, target),
            "target_window": target_window(shadow, kept.args, args, kwargs, base, answer),
        }
        if samples > 1 and base.shape[0] == samples:
            if not pairs_samples(shadow, kept, base, samples):
                leak = other_samples(shadow, args, kwargs, base, seen, samples)
                found |= {"other_samples": leak}
                if leak is not None:
                    found |= {"over_batch": over_batch(shadow.model, leak, base, seen, samples)}
            found |= {"any_input": any_input(shadow, args, kwargs, base, samples)}
            found |= {"other_positions": other_positions(shadow, args, kwargs, base, samples)}
        return {trial: facts for trial, facts in found.items() if facts is not None}
    except Exception as error:
        return {"skipped": {"why": f"{type(error).__name__}: {str(error)[:120]}"}}


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
    recurrent layer that takes it for time, leaves the first alone."""
    found = None
    for sample in (0, samples - 1):
        # one sample over and over: a sum over the batch would not see a permutation
        other = 1 if samples > 2 and sample == 0 else 0 if sample else samples - 1

        def mixed(value: Any, sample: int = sample, other: int = other) -> Any:
            if not isinstance(value, Tensor) or not value.dim() or value.shape[0] != samples:
                return value
            mixture = value[other : other + 1].repeat(samples, *(1,) * (value.dim() - 1))
            mixture[sample] = value[sample]
            return mixture

        def part(value: Tensor, sample: int = sample) -> Tensor | None:
            rows = value.shape[0] // samples if value.dim() and value.shape[0] % samples == 0 else 0
            return value[sample * rows : (sample + 1) * rows] if rows else None

        output, now = shadow.run(tuple(map(mixed, args)), {name: mixed(value) for name, value in kwargs.items()})
        if output is None:
            return found
        found = difference(base, output, seen, now, part) | {"position": sample}
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


def first_samples(kept: RecordedCall, most: int = SAMPLES) -> tuple[tuple[Any, ...], dict[str, Any], int]:
    """The arguments for at most a few samples, and how many; 0 when the tensors do not agree on what a sample is."""
    sizes = {value.shape[0] for value in kept.tensors() if value.dim()}
    if len(sizes) != 1:
        return kept.args, kept.kwargs, 0
    size = sizes.pop()

    def cut(value: Any) -> Any:
        return value[:most] if isinstance(value, Tensor) and value.dim() else value

    return tuple(map(cut, kept.args)), {name: cut(value) for name, value in kept.kwargs.items()}, min(size, most)


def simple(values: tuple[Any, ...]) -> bool:
    """True for tensors without a graph, of a moderate size, and plain values."""
    held = [value for value in values if isinstance(value, Tensor)]
    # a class of its own sees every call
    plain = all(type(value) in (Tensor, nn.Parameter) or isinstance(value, PLAIN) for value in values)
    return (
        bool(held)
        and plain
        and not any(t.requires_grad or t.layout is not torch.strided or t.is_nested or t.is_meta for t in held)
        and sum(held_bytes(t) for t in held) <= INPUT_BYTES
    )


def copied(value: Any) -> Any:
    """The value as it is now."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def refused(module: nn.Module) -> str | None:
    """Why a model is not tested, without reading its code."""
    if isinstance(module, torch.nn.parallel.DistributedDataParallel) or (
        torch.distributed.is_available() and torch.distributed.is_initialized()
    ):
        return "distributed"
    if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None:
        return "compiled"
    size = sum(held_bytes(t) for t in (*module.parameters(), *module.buffers()) if not nn.parameter.is_lazy(t))
    return "large" if size > MODEL_BYTES else None
