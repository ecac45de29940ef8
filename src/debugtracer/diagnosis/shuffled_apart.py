"""Two tensors of one length that were each put in a random order of their own before the loop took inputs from one and
targets from the other: read from the tape of a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import frames_of
from debugtracer.callsites.origins.drawn_orders import DRAWS
from debugtracer.recorder.tape.entry import Entry, Leaf, Slot, references
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import BINARY, ELEMENTWISE, INDEXED
from debugtracer.trace.facts.rows_taken import RowsTaken
from debugtracer.trace.step import StepRef

LOSSES = INDEXED | BINARY | ELEMENTWISE
PRODUCTS = frozenset({"mul", "__mul__", "bmm", "cosine_similarity"})  # row by row: not of all rows with all
FEWEST = 8  # rows of an order that says something (ours)
MOST = 20_000  # entries of a tape that is read (ours)
SHOWN = 3  # pairs of rows that are told
SORTS = frozenset({"argsort", "sort", "sorted", "msort", "lexsort", "topk", "argpartition"})
REDUCES = frozenset({"mean", "sum", "std", "var", "std_mean", "var_mean", "median", "amax", "amin", "prod", "logsumexp",
                     "quantile", "norm", "sort", "topk", "cov", "corrcoef"})  # fmt: skip
CONTRACTS = frozenset({"matmul", "__matmul__", "mm", "einsum", "tensordot", "cdist"})


class Shuffled(NamedTuple):
    """A tensor that was taken in an order of all its rows."""

    order: object
    """Which order it is: two that were drawn apart differ."""
    rows: Tensor
    store: object
    """Which tensor was put in it."""
    entry: int


class Carried(NamedTuple):
    """What a value of the tape is made of: the orders in it, and whether weights had a part in it."""

    shuffled: frozenset[int]
    learnt: bool


NOTHING = Carried(frozenset(), False)


class TapeOrders:
    """The orders that each value of one tape carries."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.taken: list[Shuffled] = []
        self.carried: dict[int, Carried] = {}
        for index, entry in enumerate(entries):
            self.see(index, entry)

    def see(self, index: int, entry: Entry) -> None:
        """Note what one call hands on, and what it puts in an order."""
        found = [self.of(reference) for reference in entry.references()]
        learnt = any(one.learnt for one in found) or (entry.kind == "module" and has_weights(entry.function))
        carried = frozenset() if loses_rows(entry) else frozenset().union(*(one.shuffled for one in found))
        if getattr(entry.function, "__name__", "") in CONTRACTS:
            carried -= frozenset().union(*(one.shuffled for one in found[1:]))
        taken = self.order_of(index, entry)
        if taken is not None:
            self.taken.append(taken)
            carried |= {len(self.taken) - 1}
        if carried or learnt:
            self.carried[index] = Carried(carried, learnt)

    def of(self, reference: Any) -> Carried:
        """What an argument carries; a parameter of the model is learnt."""
        if isinstance(reference, Slot):
            inside = 0 <= reference.entry < len(self.entries)
            return self.carried.get(reference.entry, NOTHING) if inside else NOTHING
        return Carried(frozenset(), isinstance(reference, Leaf) and reference.tensor.requires_grad)

    def order_of(self, index: int, entry: Entry) -> Shuffled | None:
        """The order in which a call takes all rows of a tensor."""
        name, args = getattr(entry.function, "__name__", ""), entry.args
        if entry.kind != "fn" or name not in ("__getitem__", "index_select") or len(args) < 2:
            return None
        place = args[2] if name == "index_select" and len(args) > 2 and args[1] == 0 else args[1]
        place = place[0] if isinstance(place, tuple) and place else place
        rows = self.rows_of(place, entry)
        if rows is None or not is_order(rows):
            return None
        return Shuffled(self.key(place), rows, self.key(args[0]), index)

    def rows_of(self, place: Any, taking: Entry) -> Tensor | None:
        """The numbers of an index that were drawn in this step, or outside of it by code that draws orders; not of one
        that sorts: two sides may each be sorted by what they hold."""
        drawn = False
        if isinstance(place, Slot) and 0 <= place.entry < len(self.entries):
            made = self.entries[place.entry]
            drawn = getattr(made.function, "__name__", "") in DRAWS
            place = made.args[place.output] if made.kind == "const" else None
        if not drawn and not is_drawn(taking):
            return None
        if isinstance(place, Leaf):
            return None if place.moved else place.tensor.detach()
        plain = type(place).__module__ == "numpy" and getattr(place, "ndim", 0) == 1 and place.dtype.kind == "i"
        return torch.from_numpy(place.astype("int64")) if plain else None

    def key(self, value: Any) -> object:
        """Identify a value of the tape."""
        if isinstance(value, Slot):
            return value.segment, value.entry, value.output
        return id(value.tensor) if isinstance(value, Leaf) else id(value)


def is_drawn(taking: Entry) -> bool:
    """Whether the innermost code around a call that orders anything draws orders and sorts nothing."""
    for code, _ in taking.frames or ():
        names = set(code.co_names)
        if names & (DRAWS | SORTS):
            return not names & SORTS
    return False


def loses_rows(entry: Entry) -> bool:
    """Whether what a call gives has no rows of what it was given: one number, or a value over all rows."""
    if entry.scalar:
        return True
    if entry.kind != "fn" or getattr(entry.function, "__name__", "") not in REDUCES:
        return False
    along = entry.kwargs.get("dim", entry.kwargs.get("axis", entry.args[1] if len(entry.args) > 1 else None))
    return along is None or 0 in (along if isinstance(along, (tuple, list)) else (along,))


def is_order(rows: Tensor) -> bool:
    """Whether an index holds each row once, and not in the order they have."""
    if rows.dim() != 1 or len(rows) < FEWEST or rows.dtype != torch.int64 or rows.device.type != "cpu":
        return False
    places = torch.arange(len(rows))
    return torch.equal(rows.sort().values, places) and not torch.equal(rows, places)


def has_weights(module: Any) -> bool:
    """Whether a called module holds parameters."""
    return isinstance(module, nn.Module) and next(iter(module.parameters()), None) is not None


def shuffled_apart(tape: Segment, rank: int) -> RowsTaken | None:
    """The first pair of orders drawn apart: of what a loss is given and of its raw targets, else of all factors that a
    step multiplies row by row. None where any pair stands in one order."""
    entries = tape.entries
    if tape.rested or tape.full or not FEWEST <= len(entries) <= MOST or not any(map(is_taking, entries)):
        return None
    orders = TapeOrders(entries)
    if len(orders.taken) < 2:
        return None
    with torch.no_grad():
        for entry, given, target in pairs(orders):
            apart = differing(orders, given, target)
            if apart is not None:
                return told(tape, rank, orders, entry, *apart)
    return None


def is_taking(entry: Entry) -> bool:
    """Whether a call may take rows by an index."""
    return entry.kind == "fn" and getattr(entry.function, "__name__", "") in ("__getitem__", "index_select")


def pairs(orders: TapeOrders) -> Iterator[tuple[Entry, Carried, Carried]]:
    """The sides of each loss; without one the factors of products, if no two of them stand in one order."""
    losses: list[tuple[Entry, Carried, Carried]] = []
    products: list[tuple[Entry, Carried, Carried]] = []
    for entry in orders.entries:
        name = getattr(entry.function, "__name__", type(entry.function).__name__)
        sides = [orders.of(next(references(value), None)) for value in (*entry.args, *entry.kwargs.values())[:2]]
        if len(sides) < 2:
            continue
        if name in LOSSES or isinstance(entry.function, nn.modules.loss._Loss):
            given, target = sides
            if given.shuffled and target.shuffled and given.learnt and not target.learnt:
                losses.append((entry, given, target))
        elif name in PRODUCTS and all(one.shuffled and one.learnt for one in sides):
            products.append((entry, sides[0], sides[1]))
    yield from losses
    if not losses and all(differing(orders, one, other) is not None for _, one, other in products):
        yield from (one for one in products if not meet_elsewhere(orders, *one[1:]))


def meet_elsewhere(orders: TapeOrders, given: Carried, target: Carried) -> bool:
    """Whether a call joins the two tensors in one order, or in none: pairs that are drawn apart beside them are meant
    as negatives."""
    taken = {one.entry: (one.store, one.order) for one in orders.taken}
    sides = [{orders.taken[n].store for n in side.shuffled} for side in (given, target)]
    found: dict[int, frozenset[tuple[object, object]]] = {}
    for index, entry in enumerate(orders.entries):
        seen = []
        for reference in entry.references():
            known = found.get(reference.entry, frozenset()) if isinstance(reference, Slot) else frozenset()
            key = orders.key(reference)
            seen.append(known | {(key, None)} if any(key in side for side in sides) else known)
        ones, others = ([{o for s, o in known if s in side} for known in seen] for side in sides)
        if any(ones[i] & others[j] for i in range(len(seen)) for j in range(len(seen)) if i != j):
            return True
        store, order = taken.get(index, (None, None))
        mine = frozenset({(store, order)}) if any(store in side for side in sides) else frozenset().union(*seen)
        if mine:
            found[index] = mine
    return False


def differing(orders: TapeOrders, given: Carried, target: Carried) -> tuple[Shuffled, Shuffled] | None:
    """An order of each side, where they have none in common, and were put on two tensors of one length."""
    ones, others = ([orders.taken[n] for n in sorted(side.shuffled)] for side in (given, target))
    if not ones or not others or {o.order for o in ones} & {o.order for o in others}:
        return None
    if {o.store for o in ones} & {o.store for o in others} or len(ones[0].rows) != len(others[0].rows):
        return None
    return None if torch.equal(ones[0].rows, others[0].rows) else (ones[0], others[0])


def told(tape: Segment, rank: int, orders: TapeOrders, entry: Entry, given: Shuffled, target: Shuffled) -> RowsTaken:
    """The fact, with the lines that put each side in its order."""
    same = int((given.rows == target.rows).sum())
    name = getattr(entry.function, "__name__", type(entry.function).__name__)
    return RowsTaken(
        ref=StepRef(iteration=tape.first_iteration, step=tape.first_step, rank=rank), loss=name,
        loss_frame=line_of(entry), frame=line_of(orders.entries[target.entry]),
        input_frame=line_of(orders.entries[given.entry]), length=len(given.rows), rows=len(given.rows), same=same,
        shifted=False, whole=True,
        first=tuple(zip(given.rows[:SHOWN].tolist(), target.rows[:SHOWN].tolist(), strict=True)),
    )  # fmt: skip


def line_of(entry: Entry) -> Frame | None:
    """The user's line of a call."""
    return next(iter(frames_of(entry.frames or ())), None)
