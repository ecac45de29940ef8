"""What the hooks report to: one method for each thing that a training loop does with torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.recorder.tape.batches import Batch, LoaderInfo

Call = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class RestableEvents(Protocol):
    """Events of a step, of which whole ones may go unreported to stay under the promised cost. Methods that are given
    the original call run it and give its output; what it raises is the program's and passes."""

    def fetched(self, batch: Batch, data: Any) -> None:
        """Called when a loader has fetched a batch."""

    def entered(self, module: nn.Module, args: Args) -> None:
        """Called when an outermost module call begins."""

    def left(self, module: nn.Module, kwargs: Kwargs, output: Any, failed: bool) -> None:
        """Called when a root call has ended; `failed`: by an exception."""

    def custom_function(self, apply: Call, args: Args, kwargs: Kwargs) -> Any:
        """A custom autograd.Function, or a compiled free function, is called by the loop itself."""
        return apply(*args, **kwargs)

    def called(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Called when a torch function has returned; only in an inspected step."""

    def scored(self, function: Any, args: Args, kwargs: Kwargs, output: Any) -> None:
        """Called when a loss function of torch.nn.functional has returned while gradients are off."""

    def backward_begins(self, given: list[Tensor], grad_tensors: Any, options: Kwargs) -> bool | None:
        """An outermost backward is called on these; the answer goes to backward_ended. May raise StoppedByTracer."""
        return None

    def backward_ended(self, popped: bool | None, failed: bool) -> None:
        """Called when a backward has ended, or died of an exception."""

    def zero_grad(self, owner: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """Run zero_grad of an optimizer or module, and report it."""
        return original(owner, *args, **kwargs)

    def clip(self, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """Run clip_grad_norm_ or clip_grad_value_, and report it; the parameters are a list by then."""
        return original(*args, **kwargs)

    def scaler_call(self, word: str, scaler: Any, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """Run `scale`, `unscale`, `step` or `update` of a GradScaler, and report it."""
        return original(scaler, *args, **kwargs)

    def scheduled(self, scheduler: Any, args: Args, kwargs: Kwargs) -> None:
        """Called when an outermost scheduler.step of the program's has returned."""


class LoopEvents(RestableEvents, Protocol):
    """All events: beside those of a step what is rare, or must never be missed."""

    def step(self, optimizer: Optimizer, original: Call, args: Args, kwargs: Kwargs) -> Any:
        """An outermost optimizer step is called."""
        return original(optimizer, *args, **kwargs)

    def rests(self) -> bool:
        """Whether only loss and gradients of the step in flight are looked at: a hook may do less."""
        return False

    def takes_loss(self, given: Tensor | Sequence[Tensor]) -> bool | None:
        """Whether the end of a backward that begins is to be told, where its loss, as it was given, is all that is
        asked of its begin; None where `backward_begins` is to be called. Never raises."""
        return None

    def next_fetch(self) -> None:
        """Called when the loop asks a loader for a batch."""

    def again(self, iterator: Any) -> tuple[Any] | None:
        """Return data to hand out instead of fetching, in a tuple; None: fetch."""
        return None

    def handed_out(self, iterator: Any, data: Any) -> None:
        """Called when the data of a fetch go to the loop."""

    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Called when an epoch begins, with the loader and its new iterator."""

    def compiles(self) -> None:
        """Called when the program compiles something."""

    def peeked(self, loss: Tensor) -> None:
        """Called when the program reads a value that is a bad loss."""

    def other_thread(self) -> None:
        """Called once, when a second thread calls backward."""

    def optimizer_found(self, optimizer: Optimizer) -> None:
        """Called when an optimizer was built, or was there before us: the program has updates of its own."""

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Called when Optimizer.__init__ has returned."""

    def scheduler_built(self, scheduler: Any) -> None:
        """Called when an outermost constructor of a scheduler has returned."""
