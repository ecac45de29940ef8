"""The events of a training run, one method each: what the gate and the hooks report, what the dispatcher hands on, what
observers may override."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from torch import Tensor, nn
from torch.optim import Optimizer

if TYPE_CHECKING:
    from debugtracer.recorder.tape.batches import Batch, LoaderInfo


class TrainingEvents(Protocol):
    """Every method does nothing here; an implementation overrides those that it needs. None may raise into the
    training, but for the stop of mode dev."""

    # data
    def loader_iterated(self, info: LoaderInfo, iterator: Any) -> None:
        """Called at iter(loader), when an epoch begins."""

    def fetched(self, batch: Batch, data: Any) -> None:
        """Called when a loader hands out a batch."""

    # model
    def entered(self, module: nn.Module, args: tuple[Any, ...]) -> None:
        """Called when an outermost module call begins (root modules, loss modules, criteria)."""

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Called when an outermost module call has ended with that output."""

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Called after each torch function, only in an inspected step (the first ones, then every
        `inspect_steps`-th)."""

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Called after a loss function that the loop itself called without gradients: an evaluation; after one that
        makes decisions of scores there (CUTS); and after one that ranks a square without a graph (RANKED). Any step."""

    # step
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Called before an outermost backward; the graph is still whole. `iteration` is its number."""

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Called after a backward without an exception; gradients are there. `iteration` is the next one's."""

    def zeroed(self, owner: Any) -> None:
        """Called when zero_grad of an optimizer or module has returned."""

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Called when clip_grad_norm_ or clip_grad_value_ has returned."""

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called before `scale`, `unscale`, `step` or `update` of a GradScaler."""

    def scaler_returned(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called after that method of the GradScaler."""

    def step_begins(self, optimizer: Optimizer) -> None:
        """Called before the optimizer writes (after unscaling and clipping); gradients are final."""

    def step_ended(self, optimizer: Optimizer) -> None:
        """Called when the optimizer has written."""

    def step_closed(self, optimizer: Optimizer) -> None:
        """Called when optimizer.step or scaler.step is over, also without a write; `step` is still its number."""

    def optimizer_changed(self, optimizer: Optimizer) -> None:
        """Called after an update by another optimizer than the one before it, also where all rests; `step` is still
        its number."""

    def scheduled(self, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Called when scheduler.step has returned (not the one inside its constructor)."""

    # run
    def restored(self, word: str, owner: Any) -> None:
        """Called after load_state_dict of a module (`weights`), optimizer, scheduler or scaler; not for inner calls."""

    def optimizer_built(self, optimizer: Optimizer) -> None:
        """Called when Optimizer.__init__ has returned."""

    def scheduler_built(self, scheduler: Any) -> None:
        """Called when a scheduler's constructor has returned."""

    def missed(self) -> None:
        """Called before a step when whole steps were not reported, to stay under the promised cost: what was noted of
        gradients, weights or a pass over the data is no longer so."""

    def incident(self) -> None:
        """Called when a non-finite value was found and replayed; the step in flight is as it was at the alarm."""

    def crashed(self, error: BaseException) -> None:
        """Called when the program dies of its own exception."""

    def ended(self) -> None:
        """Called when the run is over; the last chance to emit."""


EVENTS = tuple(name for name, value in vars(TrainingEvents).items() if callable(value) and not name.startswith("_"))
