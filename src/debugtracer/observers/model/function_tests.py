"""Tests the model as a function, once, after the first backward: what may later tokens and other samples change, does
the input matter?"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterator
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import user_frames
from debugtracer.callsites.origins.argument_origin import argument_origin, copied_at
from debugtracer.callsites.origins.cut_line import cut_first
from debugtracer.callsites.origins.mask_origin import mask_made
from debugtracer.callsites.origins.value_origin import Link, made_first
from debugtracer.errors import guarded
from debugtracer.observers.model.function_trials import Trials, tried
from debugtracer.observers.model.given_labels import BatchLeaf, batch_of, labels_in, leaf_of
from debugtracer.observers.model.recorded_call import INPUT_BYTES, RecordedCall, called_by_torch, refused, simple
from debugtracer.observers.model.row_order_trial import in_batch_order
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_copies import ShadowCopies
from debugtracer.observers.model.shadow_model import ShadowModel, is_traced, unnoticed
from debugtracer.observers.model.side_effects import side_effect
from debugtracer.observers.model.window_trials import Answer, Answers
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.state.held_bytes import held_bytes
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.facts.loss_call import ELEMENTWISE, INDEXED, LOSSES

LITTLE_BYTES = 4 * 1024**2  # of a model whose trials are expected to be quick (ours)
ROOTS = 3  # roots that are tested (ours)
NOWHERE = 99  # the place of an argument that is given by name alone
QUICK_S = 0.02  # seconds of tests at a time, whatever a step takes (ours)
STEP_SHARE = 0.1  # of the last step, that long in steps that take longer (ours): one forward mostly


class RootTests(NamedTuple):
    """A root whose copy is being tested, and what is left of its trials."""

    name: str
    call: RecordedCall
    trials: Iterator[Trials | None]


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
        self.leaf: BatchLeaf | None = None
        """The tensor of a batch that its targets are."""
        self.batch: Batch | None = None
        """That of the first call."""
        self.answers = Answers(run.batches)
        self.answer: Answer | None = None
        """The numbers that were the target of the only loss of numbers."""
        self.ordered = False
        """The targets stand in the order of the batch."""
        self.done = False
        self.under_test: deque[RootTests] = deque()
        self.at = run.ref("forward", 0)
        """The call that is tested."""
        self.dear = False
        """A trial takes longer than what is done at once: none of them in steps that are inspected."""

    def reset(self) -> None:
        self.kept.clear()
        self.targets.clear()
        self.batch = None
        self.under_test.clear()
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
            last = self.run.batches.last()
            self.kept.append(RecordedCall(module, args, kwargs, last.rows if last is not None else None))
            self.batch = self.batch or batch_of(self.run.batches, (*args, *kwargs.values()))

    @of_functions(LOSSES)
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
            self.leaf = leaf_of(self.run.batches, target)

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Copy what was kept when the first backward is over, and test the copies a little at a time: at once where
        that is quick, else in steps that are not dear already."""
        if is_traced():
            return  # a copy would be made of what the tracer holds in place of tensors
        if not self.done:
            self.done = True
            self.at = self.run.ref("forward", 0)
            self.run.unsubscribe(self.left)
            self.under_test = self.prepared()
        if not (self.run.inspecting and self.dear):
            self.go_on(max(QUICK_S, STEP_SHARE * self.run.state.step_s))

    def incident(self) -> None:
        """Test all that is left: what they find may be what made the step bad."""
        self.go_on(math.inf)

    def ended(self) -> None:
        """Test what a short run has left, where nobody waits for its end."""
        if not self.run.interrupted:
            self.go_on(math.inf)

    def prepared(self) -> deque[RootTests]:
        """The tests of the roots that were kept; says of others why they are not tested."""
        kept, targets, self.kept, self.targets = self.kept, self.targets, [], []
        self.answer = answer = self.answers.only()
        self.answers.clear()
        if targets and self.leaf is None:
            self.leaf = self.labels_given(kept, targets[0])
        wanted = targets[0] if targets else answer.target if answer is not None else None
        leaves = [leaf for _, leaf in self.batch.tensors()] if self.batch is not None else []
        self.ordered = wanted is not None and in_batch_order(wanted, leaves)
        self.batch = None
        found: deque[RootTests] = deque()
        for number_of, one in enumerate(kept):
            name = type(one.module).__name__ + (f" {number_of}" if number_of else "")
            why = side_effect(one.module) if called_by_torch() else "the program has replaced nn.Module.__call__"
            if why is not None:
                self.run.emit(FunctionTest(ref=self.at, trial="skipped", root=name, why=why))
                continue
            self.dear |= sum(held_bytes(p) for p in one.module.parameters()) > LITTLE_BYTES
            with unnoticed(self.run.disabled):
                made = copy_or_error(self.run.shadows, one, self.run.iteration)
            trials = tried(one, targets[0] if targets else None, answer.target if answer else None, made)
            found.append(RootTests(name, one, trials))
        return found

    def go_on(self, seconds: float) -> None:
        """Test for so long, and one trial at least; release the copies when all is done. Nothing is tested while the
        program traces its own calls: it would see ours of its functions."""
        if is_traced():
            return
        begin = perf_counter()
        while self.under_test and perf_counter() - begin < seconds:
            root = self.under_test[0]
            trial = perf_counter()
            with unnoticed(self.run.disabled):
                found = next(root.trials)
            self.dear |= perf_counter() - trial > QUICK_S
            if found is not None:
                self.under_test.popleft()
                self.tell(root, found)
        if self.done and not self.under_test:
            self.run.unsubscribe(self.left, self.backward_ended)

    def tell(self, root: RootTests, found: dict[str, dict[str, Any]]) -> None:
        """Emit what the trials of one root have found."""
        if self.answer is not None and "target_window" in found:
            found["target_window"] |= {"frame": self.answer.frame, "made": self.answer.made()}
            found["target_window"] |= handed(root.call, found["target_window"].pop("argument"))
        for trial in found.keys() & {"own_token", "shifted_token"}:
            found[trial] |= {"frame": self.stack[0] if self.stack else None, "loss_of": self.loss_of}
            links = self.labels_made()
            copied = copied_at(links) if trial == "own_token" else None
            later = trial == "shifted_token"
            found[trial]["made"] = (copied,) if copied is not None else cut_first(links, later)
        if not self.ordered:
            found.pop("row_order", None)  # the loop may have put the targets in the order of the outputs
        for trial, facts in found.items():
            stack = facts.pop("stack", ())
            if trial in ("later_tokens", "late_mask") and stack:
                facts["made"] = mask_made(stack)
            self.run.emit(FunctionTest(ref=self.at, trial=trial, root=root.name, **facts))  # type: ignore[arg-type]

    def labels_given(self, kept: list[RecordedCall], target: Tensor) -> BatchLeaf | None:
        """The tensor of a batch that a model made its targets of; a library's is often given copies, on its device."""
        if self.batch is None and self.loss_of:
            whole = [value for one in kept for value in one.tensors() if not value.is_floating_point()]
            self.run.batches.adopt(whole)
            self.batch = batch_of(self.run.batches, whole)
        return labels_in(self.batch, target) if self.batch is not None else None

    def labels_made(self) -> tuple[Link, ...]:
        """The lines that wrote the targets: those of the loop where one of them cuts or computes them, else the
        loader's too. A model of a library's computes them of what it is given."""
        links = argument_origin(self.stack, INDEXED, "target", 1)
        if self.leaf is None:
            return links
        if self.loss_of:
            links = ()
        cut = any(link.kind in ("made", "formed") for link in links)
        return links if cut else (*links, *(guarded("function_tests.labels")(self.leaf[0].origin)(self.leaf[1]) or ()))


def handed(call: RecordedCall, number: int) -> dict[str, Any]:
    """The argument that holds the target beside another one that holds the past, and the lines that made it so in the
    function that calls the model: elsewhere it may be right, and the call is what hands it on whole."""
    name = call.names()[number] if number >= 0 else ""
    if not name or call.frame is None:
        return {}
    links = argument_origin(call.stack, (), name, number if number < len(call.args) else NOWHERE)
    here = [link for link in links if written_in(link.frame) == written_in(call.frame)]
    cut = any(link.kind in ("made", "formed") for link in here)
    return {"argument": name, "made": made_first(here, cut=True) if cut else (), "frame": call.frame}


def written_in(frame: Frame) -> tuple[str, str]:
    """Return the file of a line and the function around it, without its class; no function for the file itself."""
    return frame.file, frame.function.rpartition(".")[2].replace("<module>", "")


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
    if module is None or next(iter(module.parameters()), None) is None:
        return ""
    file = getattr(sys.modules.get(type(module).__module__), "__file__", None)
    return type(module).__name__ if file and not is_user_file(file) else ""


def copy_or_error(shadows: ShadowCopies, kept: RecordedCall, iteration: int) -> ShadowModel | Exception:
    """The copy of a root, or what copying raised."""
    try:
        return shadows.of(kept.module, kept.autocast, iteration)
    except Exception as error:
        return error
