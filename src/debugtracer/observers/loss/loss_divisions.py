"""Reads from the graph of each loss of an accumulation by what it was divided last, and its terms before that."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.construction import is_user_file
from debugtracer.callsites.frames import calling_place
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_division import LossDivision

DEEP = 40  # nodes in a row (ours)
CLOSE = 1e-5  # of a product with a fraction, in single precision
SUM = 2  # as torch writes down the reduction of a loss
SUMS = frozenset({"SumBackward", "StackBackward", "CatBackward"})
STEPS = frozenset(
    {"AddBackward", "SubBackward", "DivBackward", "MulBackward", "ToCopyBackward", "ViewBackward", "SqueezeBackward"}
)
LIBRARIES = "site-packages"  # the folder that packages are installed in


class LossDivisionsObserver(Observer):
    """Keeps numbers of one step; waits for no device: a divisor that is a Python number lies on the host."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.divisors: list[float | None] = []
        """Of each backward since the last update: what its loss was divided by twice."""
        self.library = ""
        self.frame: Frame | None = None
        """The line of the program that the last backward came from."""

    def reset(self) -> None:
        """Drop the backward calls of the update in flight."""
        self.divisors.clear()

    def missed(self) -> None:
        """Drop them: the others of this update were not seen."""
        self.divisors.clear()

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Note by what the loss was divided."""
        self.divisors.append(divided_twice(self.run.state.scaled.unscaled(losses[0])) if losses else None)
        self.library, self.frame = calling_library(), self.run.here()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit an update whose losses were all divided twice by their number."""
        divisors, count = set(self.divisors), len(self.divisors)
        self.divisors.clear()
        if self.library and count > 1 and divisors == {float(count)}:
            self.run.emit(LossDivision(ref=self.run.ref(), backwards=count, library=self.library, frame=self.frame))


def divided_twice(loss: Tensor) -> float | None:
    """The number that a loss was divided by last, if every term of it was divided by it before, too; None for anything
    else."""
    outer: Any = loss.grad_fn
    if outer is None or not outer.name().startswith("DivBackward"):
        return None
    number = number_of(outer)
    if number is None or number == 1:
        return None
    inner = inputs_of(outer)
    return number if len(inner) == 1 and is_divided(inner[0], number, DEEP) else None


def is_divided(node: Any, number: float, deep: int) -> bool:
    """Whether all terms behind a scalar were divided by a number, and not to take their mean."""
    name, inner = node.name().rstrip("0123456789"), inputs_of(node)
    if deep == 0 or name not in STEPS or not inner:
        return False
    by = number_of(node) if len(inner) == 1 else None
    if by is not None and (
        (name == "DivBackward" and by == number) or (name == "MulBackward" and abs(by * number - 1) < CLOSE)
    ):
        return not is_sum_of(inner[0], number)
    return all(is_divided(one, number, deep - 1) for one in inner)


def is_sum_of(node: Any, number: float) -> bool:
    """Whether a quotient by this number may be a mean: of so many terms, or of elements that were added up."""
    name = node.name().rstrip("0123456789")
    return name in SUMS or getattr(node, "_saved_reduction", None) == SUM or terms(node, DEEP) == number


def terms(node: Any, deep: int) -> int:
    """How many terms were added up."""
    if deep == 0 or not node.name().startswith(("AddBackward", "SubBackward")):
        return 1
    return sum(terms(one, deep - 1) for one in inputs_of(node))


def inputs_of(node: Any) -> list[Any]:
    """The nodes that a node passes gradients on to."""
    return [one for one, _ in node.next_functions if one is not None]


def number_of(node: Any) -> float | None:
    """The Python number that a division divides by."""
    try:
        other = node._saved_other
    except (AttributeError, RuntimeError):  # another overload; freed by a backward before
        return None
    return (
        float(other.detach())
        if isinstance(other, Tensor) and other.numel() == 1 and other.device.type == "cpu"
        else None
    )


def calling_library() -> str:
    """The package that calls backward; empty where the program does it itself."""
    place = calling_place()
    file = place[0].co_filename if place is not None else ""
    if not file or is_user_file(file) or LIBRARIES not in file:
        return ""
    return file.replace("\\", "/").rpartition(f"{LIBRARIES}/")[2].partition("/")[0]
