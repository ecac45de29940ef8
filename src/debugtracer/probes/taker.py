"""The contract of a taker: a probe that is told the moments of a step and writes down facts. Two-file law: a new one is one file here and its test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import Tensor, nn
from torch.optim import Optimizer

if TYPE_CHECKING:
    from debugtracer.probes.desk import Desk
    from debugtracer.recorder.batches import Batch, LoaderInfo


class Taker:
    """Base. Override the moments you need; only those are called, guarded, in the training thread, with free calls of the tape paused.

    It takes and never judges. It changes nothing, keeps nothing alive (no tensor with grad_fn beyond the moment), waits for no device, draws no
    random number and leaves every global as it was. Time spent in it counts as ours (`own_s`).
    """

    def __init__(self) -> None:
        self.desk: Desk

    def install(self) -> None:
        """Patch what only this taker needs; most need nothing. Called when the session starts."""

    def remove(self) -> None:
        """Restore it."""

    def forget(self) -> None:
        """A forked child starts from nothing."""

    # moments of the data
    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """iter(loader): an epoch begins."""

    def fetched(self, batch: Batch, data: Any) -> None:
        """A loader hands out a batch."""

    # moments of the model
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """An outermost module call begins (root modules, loss modules, criteria)."""

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """It ended with that output."""

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """A torch function was called, inside modules or outside; only while `desk.inspecting` (the first steps, then every `inspect_steps`-th)."""

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """The loop itself called a loss function of torch.nn.functional while gradients are off: an evaluation. Any step."""

    # moments of the step
    def backward_begins(self, losses: list[Tensor]) -> None:
        """An outermost backward is called on these; the graph is still whole. `desk.iteration` is its number."""

    def backward_ended(self, losses: list[Tensor]) -> None:
        """It ended without an exception; gradients are there. `desk.iteration` is already the next one's."""

    def zeroed(self, owner: Any) -> None:
        """zero_grad of an optimizer or module returned."""

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """clip_grad_norm_ or clip_grad_value_ returned."""

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """GradScaler `scale`, `unscale`, `step` or `update` is called (before it runs)."""

    def scaler_returned(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """It returned."""

    def step_begins(self, optimizer: Optimizer) -> None:
        """The optimizer is about to write (after unscaling and clipping); gradients are final."""

    def step_ended(self, optimizer: Optimizer) -> None:
        """It has written."""

    def step_closed(self, optimizer: Optimizer) -> None:
        """optimizer.step or scaler.step is over, also when a scaler skipped the write; `desk.step` is still its number."""

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """scheduler.step returned (not the one inside its constructor)."""

    # moments of the run
    def restored(self, word: str, owner: Any) -> None:
        """load_state_dict of a module (`weights`), optimizer, scheduler or scaler returned; not the calls it made itself."""

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Optimizer.__init__ returned."""

    def scheduler_built(self, scheduler: Any) -> None:
        """A scheduler's constructor returned."""

    def incident(self) -> None:
        """A non-finite value was found and replayed; the step in flight is still as it was at the alarm."""

    def crashed(self, error: BaseException) -> None:
        """The program dies of its own exception."""

    def ended(self) -> None:
        """The run is over; the last chance to tell."""
