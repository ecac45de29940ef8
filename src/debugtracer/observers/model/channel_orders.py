"""Compares channel by channel what a model is given in training and in evaluations: is it another order?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.definitions import returned_at
from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.errors import guarded
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.channel_order import ChannelOrder
from debugtracer.trace.number import number

CALLS = 16  # of a model in training, and in evaluations, that are added up (ours)
ROOTS = 4  # models (ours)
CHANNELS = 256  # columns of a table, at most (ours)
BANDS = 16  # channels of a picture, at most (ours: layers deeper in a network are no input)
FEWEST = 24  # samples of each side (ours)
APART = {True: 0.5, False: 1.0}  # deviations from where two means differ: of pictures, of a table (ours)
SURE = 6.0  # standard errors of the same (ours)
LIKE = {True: 0.5, False: 0.3}  # distance up to which two are one: of means and of log deviations together (ours)
WIDER = 0.5  # log deviations from where two channels differ, over samples and inside them together (ours)
TOGETHER = 0.3  # correlation of two channels by which training and evaluation may differ (ours)
OPPOSED = -0.5  # correlation of two columns from which the one is what the other leaves (ours)
CHANCE = 1.5  # standard errors by which those may be larger (ours)


class Order(NamedTuple):
    """Which channels moved, which one of training each is like, and how far apart they are."""

    places: tuple[int, ...]
    alike: tuple[int, ...]
    apart: float
    left: float


class Channels(NamedTuple):
    """Of each channel: the mean, its deviation over samples, the mean deviation inside one; and how all go together."""

    mean: Tensor
    spread: Tensor
    inside: Tensor
    together: Tensor


class Moments:
    """Sums over the samples of one side."""

    def __init__(self) -> None:
        self.calls = self.samples = 0
        self.sums = torch.zeros(0)
        """Of each channel: its mean in a sample, its deviation inside the sample, the products of all means."""
        self.binary: Tensor | None = None
        self.raw: RawFrames = ()
        self.made: tuple[Frame, ...] = ()
        self.loader: LoaderInfo | None = None
        """That whose batch was fetched last."""

    def add(self, value: Tensor) -> None:
        """Add the samples of one batch."""
        rows = value.detach().flatten(2) if value.dim() > 2 else value.detach().unsqueeze(2)
        means = rows.double().mean(2)
        inside = rows.double().std(2, correction=0)
        now = torch.cat([means.sum(0)[None], inside.sum(0)[None], means.T @ means])
        two = ((rows == 0) | (rows == 1)).all(2).all(0)
        if self.calls and self.sums.shape != now.shape:
            return  # another number of channels
        self.sums = self.sums + now if self.calls else now
        self.binary = two if self.binary is None else self.binary & two
        self.calls, self.samples = self.calls + 1, self.samples + len(rows)

    def read(self) -> Channels:
        """What is known of each channel."""
        mean, inside, *products = self.sums.cpu() / max(self.samples, 1)
        covariance = torch.stack(products) - mean[:, None] * mean
        spread = covariance.diagonal().clamp_min(0).sqrt()
        together = covariance / (spread[:, None] * spread).clamp_min(1e-24)
        return Channels(mean, spread, inside, together)


class BothSides:
    """What one model was given."""

    def __init__(self, module: nn.Module, pictures: bool) -> None:
        self.module, self.root, self.pictures = WeakRef(module), type(module).__name__, pictures
        self.training, self.evaluation = Moments(), Moments()


class ChannelOrdersObserver(Observer):
    """Adds up three numbers a channel in inspected steps and in the first calls of evaluations; judges once."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.roots: list[BothSides] = []

    def reset(self) -> None:
        self.roots.clear()

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Add what a training call of an inspected step, or one of an evaluation, was given."""
        training = torch.is_grad_enabled() and module.training
        known = next((one for one in self.roots if one.module() is module), None)
        if (training and not self.run.inspecting) or (known is None and not training):
            return
        value = next((one for one in (*args, *kwargs.values()) if isinstance(one, Tensor)), None)
        if value is None or not is_input(value):
            return
        if known is None:
            if len(self.roots) >= ROOTS or self.run.state.roots.get(module) is None:
                return
            known = BothSides(module, value.dim() == 4)
            self.roots.append(known)
        side = known.training if training else known.evaluation
        if side.calls < CALLS and known.pictures == (value.dim() == 4) and not (module.training and not training):
            if not side.calls:
                side.made, side.raw = self.makers(value), raw_frames(2)
                last = self.run.batches.last()
                side.loader = last.loader if last is not None else None
            with torch.no_grad():
                side.add(value)

    def makers(self, value: Tensor) -> tuple[Frame, ...]:
        """The lines that wrote this tensor of a batch, else that of the batch fetched last; the last writer first."""
        hit = self.run.batches.find(value)
        batch = hit[0] if hit is not None else self.run.batches.last()
        if batch is None:
            return ()
        links = guarded("channel_orders.origin")(batch.loader.origin)(hit[1] if hit is not None else "batch[0]") or ()
        handed = returned_at(getattr(type(getattr(batch.loader.loader(), "dataset", None)), "__getitem__", None))
        return (*([handed] if handed is not None else []), *(link.frame for link in links))

    def ended(self) -> None:
        """Emit the models whose evaluations have their channels in another order."""
        for known in self.roots:
            ours, theirs = known.training, known.evaluation
            if min(ours.samples, theirs.samples) < FEWEST or ours.sums.shape != theirs.sums.shape:
                continue
            order = reordered(ours, theirs, known.pictures)
            if order is None:
                continue
            frames = frames_of(theirs.raw)
            means = [side.read().mean[list(order.places)].tolist() for side in (ours, theirs)]
            self.run.emit(
                ChannelOrder(
                    ref=self.run.ref("forward"), root=known.root, pictures=known.pictures,
                    channels=ours.sums.shape[1], places=order.places, alike=order.alike,
                    trained=tuple(map(number, means[0])), evaluated=tuple(map(number, means[1])),
                    apart=number(order.apart), left=number(order.left), samples=(ours.samples, theirs.samples),
                    frame=made_apart(ours, theirs), called=frames[0] if frames else None,
                    loaded=has_own(theirs.loader, ours.loader),
                )
            )  # fmt: skip


def is_input(value: Tensor) -> bool:
    """Whether it holds a few channels of pictures, or columns of a table."""
    if not value.is_floating_point() or not is_dense(value):
        return False
    most = BANDS if value.dim() == 4 else CHANNELS
    return value.dim() in (2, 4) and 1 < value.shape[1] <= most


def reordered(ours: Moments, theirs: Moments, pictures: bool) -> Order | None:
    """Find another order of the channels that makes both sides alike, where they are not as they are."""
    one, other = ours.read(), theirs.read()
    if not all(bool(part.isfinite().all()) for part in (*one, *other)):
        return None
    by_chance = CHANCE * (1 / ours.samples + 1 / theirs.samples) ** 0.5
    error = (one.spread.square() / ours.samples + other.spread.square() / theirs.samples).sqrt().clamp_min(1e-12)
    far = (other.mean[:, None] - one.mean).abs()
    wider = ratio(other.spread, one.spread) + (ratio(other.inside, one.inside) if pictures else 0)
    apart = far.diagonal() / one.spread.clamp_min(1e-12)
    moved = (apart >= APART[pictures]) & (far.diagonal() >= SURE * error)
    if not pictures and ours.binary is not None and theirs.binary is not None:
        moved &= ~(ours.binary & theirs.binary).cpu()  # a category that is rarer now
    scaled = far / torch.maximum(other.spread[:, None], one.spread).clamp_min(1e-12) + wider
    found = matched(moved, scaled, apart, LIKE[pictures] + by_chance)
    if found is None and pictures:  # each channel was normalised with the numbers of its place: means say nothing
        wide = wider.diagonal()
        found = matched(
            (wide >= WIDER) & (wide >= SURE * by_chance / CHANCE), wider, wide, LIKE[pictures] / 2 + by_chance
        )
    if found is None or not (is_related(found, one, other, by_chance) if pictures else is_free(found, one)):
        return None
    return found


def made_apart(ours: Moments, theirs: Moments) -> Frame | None:
    """The last line that makes the input of an evaluation and not that of training."""
    return next((frame for frame in theirs.made if frame not in ours.made), None)


def matched(moved: Tensor, far: Tensor, apart: Tensor, like: float) -> Order | None:
    """The order that pairs channels which moved with others that moved, each with the nearest."""
    places = moved.nonzero().flatten().tolist()
    if len(places) < 2:
        return None
    alike = far[places].argmin(1).tolist()
    left, least = float(far[places].min(1).values.max()), float(apart[places].min())
    if sorted(alike) != places or left > min(like, least / 2):
        return None
    return Order(tuple(places), tuple(alike), least, left)


def is_related(order: Order, one: Channels, other: Channels, by_chance: float) -> bool:
    """Whether channels go together as those do that they are like."""
    places = list(range(len(one.mean)))
    for place, like in zip(order.places, order.alike, strict=True):
        places[place] = like
    return float((other.together - one.together[places][:, places]).abs().max()) <= TOGETHER + by_chance


def has_own(one: LoaderInfo | None, other: LoaderInfo | None) -> bool:
    """Whether there is such a loader, and it is another one over another dataset."""
    if one is None or other is None or one is other:
        return one is not other and one is not None
    data = [info.data() if info.data is not None else None for info in (one, other)]
    return data[0] is None or data[0] is not data[1]


def is_free(order: Order, one: Channels) -> bool:
    """Whether no column that moved goes against the one that it is like: of two shares of a whole, one grew."""
    return all(float(one.together[at, like]) > OPPOSED for at, like in zip(order.places, order.alike, strict=True))


def ratio(theirs: Tensor, ours: Tensor) -> Tensor:
    """How many times wider each of the one side is than each of the other, as a logarithm."""
    return (theirs.clamp_min(1e-12)[:, None].log() - ours.clamp_min(1e-12).log()).abs()
