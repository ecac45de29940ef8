"""Measures every call of a loss function on inspected steps, and the softmax or sigmoid that made its input."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.origins.reduction_line import reduction_line
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import (
    arguments,
    class_dim,
    counts,
    form_of,
    is_repeated,
    is_stretched,
    row_sums,
    rows_of,
    rows_outside,
    target_limits,
    target_values,
)
from debugtracer.observers.loss.output_range import NODES, RANGES, output_range, reach, with_zeros
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.loss.score_limit import score_limit
from debugtracer.observers.loss.short_terms import short_term
from debugtracer.observers.model.running_module import path_of, running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.observers.weights.blended_copies import PRODUCTS
from debugtracer.recorder.tape.held_rows import lies_first
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import BINARY, DISTRIBUTION, ELEMENTWISE, INDEXED, LOSSES, LossCall, Maker
from debugtracer.trace.number import number

MAKERS = frozenset({"softmax", "log_softmax", "logsigmoid", *RANGES, *(f"{name}_" for name in RANGES)})
VIEWS = (
    "View", "Unsafe", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Clone", "ToCopy", "Slice",
    "Select", "Alias", "Expand", "Split", "Index",
)  # fmt: skip
ON_PURPOSE = ("Unsqueeze", "View", "Unsafe", "Expand")  # nodes of a dimension that was made to be stretched
NORMALISES = "logsumexp"
SCORED = frozenset({"cross_entropy", "binary_cross_entropy_with_logits"})
MOST_CALLS = 16  # loss calls emitted of one step (ours)
MOST_MAKERS = 256  # softmax outputs remembered of one step (ours)
MOST_CLASSES = 4096  # classes counted for the entropy of a batch (ours)


class LossCallObserver(Observer):
    """Reads values of losses and targets, one host sync a call, on inspected steps only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.makers: dict[int, Maker] = {}
        """Sequence number of the graph node -> what made it."""
        self.emitted, self.number, self.at = 0, 0, (-1, -1)
        self.sums: dict[tuple[str, int] | None, Frame | None] = {}

    def reset(self) -> None:
        self.makers.clear()

    @of_functions(LOSSES, MAKERS, DIFFERENCES, PRODUCTS, {NORMALISES})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember a softmax, measure a loss."""
        name = getattr(function, "__name__", "")
        known = name in LOSSES or name in MAKERS or name in DIFFERENCES or name in PRODUCTS or name == NORMALISES
        if not known or not torch.is_grad_enabled():
            return
        if self.at != (self.run.iteration, self.run.step):
            self.at, self.emitted = (self.run.iteration, self.run.step), 0
            self.makers.clear()
        if name in MAKERS:
            self.remember(name.strip("_"), args, kwargs, output)
        elif name in DIFFERENCES:
            self.difference(args)
        elif name in PRODUCTS:
            self.product(args)
        elif name == NORMALISES:
            self.normalised_again(args, kwargs)
        elif self.emitted < MOST_CALLS:
            with torch.no_grad():
                self.run.emit(self.seen(name, arguments(name, args, kwargs), output))

    def remember(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember where a normalised output comes from."""
        node = output.grad_fn if isinstance(output, Tensor) else None
        if node is None:
            return
        if len(self.makers) >= MOST_MAKERS:  # the last ones are the nearest to the loss
            del self.makers[next(iter(self.makers))]
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        dim = dim if isinstance(dim, int) and "softmax" in name else None
        size = int(output.shape[dim]) if dim is not None and output.dim() else None
        low, high = (number(end) for end in output_range(name, args, kwargs))
        before = args[0] if args and isinstance(args[0], Tensor) and "softmax" in name else None
        given = with_zeros(self.maker(before), before) if before is not None else None
        self.makers[node._sequence_nr()] = Maker(
            function=name, dim=dim, size=size, module=self.module(), frame=self.run.here(), low=low, high=high,
            given=given,
        )  # fmt: skip

    def module(self) -> str | None:
        """The path of the module that runs."""
        running = running_module()
        return path_of(running, self.roots()) if running is not None else None

    def roots(self) -> list[Any]:
        """The roots known so far, on the very first call too, as a root is entered before its functions."""
        return self.run.modules()

    def maker(self, given: Tensor) -> Maker | None:
        """The softmax or sigmoid whose output this is, seen through views."""
        node = given.grad_fn
        for _ in range(16):
            if node is None:
                return None
            if node._sequence_nr() in self.makers and node.name().startswith(("LogSoftmax", "LogSigmoid", *NODES)):
                return self.makers[node._sequence_nr()]
            if not node.name().startswith(VIEWS) or not node.next_functions:
                return None
            node = node.next_functions[0][0]
        return None

    def difference(self, args: tuple[Any, ...]) -> None:
        """Emit `prediction - target` with a target of the batch, or a column against stored values, stretched to a
        matrix."""
        a, b = (*args, None, None)[:2]
        if (
            not (isinstance(a, Tensor) and isinstance(b, Tensor))
            or a.shape == b.shape
            or a.requires_grad == b.requires_grad
            or self.emitted >= MOST_CALLS
        ):
            return
        given, target = (a, b) if a.requires_grad else (b, a)
        known = is_stretched(tuple(a.shape), tuple(b.shape)) and self.run.batches.find(target) is not None
        if known or is_column(given, target):
            facts = self.shapes(given, target)
            facts |= self.short(facts, target)
            self.run.emit(LossCall(ref=self.run.ref(), loss="sub", frame=self.run.here(), **facts))

    def product(self, args: tuple[Any, ...]) -> None:
        """Emit values of the rows times a column of the batch that is given as no other shape, stretched to a
        matrix."""
        a, b = (*args, None, None)[:2]
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)) or a.requires_grad == b.requires_grad:
            return
        given, weight = (a, b) if a.requires_grad else (b, a)
        if not is_column(weight, given) or weight._base is not None or self.emitted >= MOST_CALLS:
            return
        if self.run.batches.find(weight) is not None:
            seen = self.shapes(given, weight)
            self.run.emit(LossCall(ref=self.run.ref(), loss="mul", frame=self.run.here(), **seen))

    def normalised_again(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit a softmax that is given as logits: `Categorical(logits=...)` takes the log of the sum of exponentials of
        what it gets along the last dimension."""
        given = args[0] if args else kwargs.get("input")
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(given, Tensor) or dim != -1 or not kwargs.get("keepdim") or self.emitted >= MOST_CALLS:
            return
        maker = self.maker(given)
        if maker is None or maker.function != "softmax" or maker.dim not in (-1, given.dim() - 1):
            return
        self.emitted, self.number = self.emitted + 1, self.number + 1
        self.run.emit(
            LossCall(
                ref=self.run.ref(), loss=DISTRIBUTION, number=self.number, frame=self.run.here(),
                module=self.module(), input_shape=tuple(given.shape), classes=int(given.shape[-1]),
                form="probabilities", maker=maker,
            )
        )  # fmt: skip

    def shapes(self, given: Tensor, target: Tensor) -> dict[str, Any]:
        """What needs no value."""
        self.emitted, self.number = self.emitted + 1, self.number + 1
        wide = given if 1 in given.shape else target
        # a column cut from the outputs, `output[:, k : k + 1]`, was not made to be compared with all rows
        kept = ON_PURPOSE if is_column(given, target) else (*ON_PURPOSE, "Slice")
        viewed = wide.grad_fn is not None and wide.grad_fn.name().startswith(kept)
        return {
            "number": self.number,
            "input_shape": tuple(given.shape),
            "input_dtype": str(given.dtype).removeprefix("torch."),
            "input_grad": given.requires_grad,
            "target_shape": tuple(target.shape),
            "target_dtype": str(target.dtype).removeprefix("torch."),
            "target_is_batch": self.run.batches.find(target) is not None,
            "broadcast": is_stretched(tuple(given.shape), tuple(target.shape)),
            "explicit": viewed,
        }

    def sum_line(self, called: Frame | None) -> Frame | None:
        """The line that asks for the sum; read once for each line of a call."""
        key = (called.file, called.line) if called is not None else None
        if key not in self.sums:
            self.sums[key] = guarded("loss_call.sum_line")(reduction_line)(called, "sum")
        return self.sums[key]

    def short(self, facts: dict[str, Any], target: Tensor) -> dict[str, Any]:
        """Where a target that is stretched got a term without its dimension."""
        rows = facts["input_shape"][0] if facts["input_shape"] else 0
        asked = facts["broadcast"] and not facts["explicit"] and rows > 1 and not facts["target_is_batch"]
        found = guarded("loss_call.short")(short_term)(target, rows) if asked else None
        return {"short": found.name, "short_frame": found.frame} if found is not None else {}

    def seen(self, name: str, given: dict[str, Any], output: Tensor) -> LossCall:
        """The fact of one call."""
        logits = given["log_probs"] if name == "ctc_loss" else given["input"]
        target = given["targets"] if name == "ctc_loss" else given["target"]
        dim = class_dim(name, logits)
        classes = int(logits.shape[dim]) if dim is not None and logits.dim() else None
        facts = self.shapes(logits, target)
        facts |= {
            "broadcast": (facts["broadcast"] or is_repeated(logits, target)) and name in ELEMENTWISE,
            "classes": classes,
            "reduction": str(given.get("reduction", "mean")),
        }
        if facts["reduction"] == "sum":
            facts["chosen"] = self.sum_line(self.run.here())
        facts |= self.short(facts, target)
        facts |= {
            "label_smoothing": float(given.get("label_smoothing") or 0.0),
            "log_target": bool(given.get("log_target")),
        }
        facts |= {"weighted": given.get("weight") is not None or given.get("pos_weight") is not None}
        facts |= {"ignore_index": given["ignore_index"] if name in INDEXED else None, "maker": self.maker(logits)}
        facts |= self.values(name, given, logits.detach(), target.detach(), output, dim)
        if "value" in facts and given.get("reduction") != "none":  # a mask may follow
            facts |= reach(name, logits, target, facts["maker"])
            facts |= {"score_limit": score_limit(logits) if name == "cross_entropy" else None}
            facts |= {"maker": with_zeros(facts["maker"], logits)} if name in SCORED else {}
        return LossCall(ref=self.run.ref(), loss=name, frame=self.run.here(), module=self.module(), **facts)

    def values(
        self, name: str, given: dict[str, Any], logits: Tensor, target: Tensor, output: Tensor, dim: int | None
    ) -> dict[str, Any]:
        """What takes one look at the numbers."""
        if not is_dense(logits) or not is_dense(target) or not logits.is_floating_point() or is_dispatched(output):
            return {}
        parts = [output.detach().float().mean()]
        parts += row_sums(rows_of(logits, dim)) if dim is not None else [*logits.float().aminmax(), parts[0], parts[0]]
        classes = int(logits.shape[dim]) if dim is not None else None
        # the caller multiplies with a mask: any target may stand behind it
        masked = given.get("reduction") == "none" and name in BINARY
        limits = None if masked else target_limits(name, target, classes)
        kept = counts(
            target,
            given.get("ignore_index") if name in INDEXED else None,
            given.get("weight") if name in BINARY else None,
        )
        parts += target_values(target, kept, limits)
        value, low, high, sums, lse, counted, tlow, thigh, outside = torch.stack([p.double() for p in parts]).tolist()
        facts: dict[str, Any] = {
            "value": number(value),
            "input_low": number(low),
            "input_high": number(high),
            "counted": int(counted),
        }
        facts |= {"ignored": 1 - counted / target.numel(), "outside": int(outside)}
        if counted:
            facts |= {"target_low": number(tlow), "target_high": number(thigh)}
        if dim is not None and all(map(math.isfinite, (low, high))):
            facts["form"] = form_of(low, high, sums, lse, logits.dtype)
        if outside and limits is not None:
            rows = rows_outside(target, kept, limits)
            found = self.run.batches.find(target)
            taken = self.run.batches.held_rows(target) if found is not None else None
            first = taken is not None and len(taken.at) == target.shape[0] and lies_first(target)
            at = taken.rows(rows) if taken is not None and first else None
            facts |= {"outside_rows": rows, "outside_samples": found[0].samples(sorted(at)) if found and at else None}
        elif (
            classes is not None
            and classes <= MOST_CLASSES
            and not target.is_floating_point()
            and target.device.type == "cpu"
            and counted
        ):
            facts["prior_entropy"] = entropy(target[kept], classes) if name in INDEXED else None
        return facts


def is_column(given: Tensor, target: Tensor) -> bool:
    """True for a column of (N, 1) and values of (N,), as a prediction and a rollout or a replay buffer."""
    return target.dim() == 1 and len(target) > 1 and tuple(given.shape) == (len(target), 1)


def entropy(targets: Tensor, classes: int) -> float:
    """The entropy of the classes of a batch, nats."""
    share = torch.bincount(targets.flatten(), minlength=classes).double() / targets.numel()
    return float(-(share * share.clamp_min(1e-30).log()).sum())


def is_dispatched(value: Tensor) -> bool:
    """Whether its class decides what operators give: no number can be read from it for sure."""
    return type(value).__torch_dispatch__ is not Tensor.__torch_dispatch__
