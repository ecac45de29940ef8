"""Finds anomalies of one batch, compared with what its loader has handed out before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from debugtracer.errors import guarded
from debugtracer.observers.data.baseline import Baseline
from debugtracer.observers.data.far_element import FarElement, far_element, line_of
from debugtracer.observers.data.tensor_summary import TensorSummary, blank_rows, cut_share, lines_of, look_at
from debugtracer.observers.data.token_rows import is_padding_mask, lengths_of, pad_value, repeats
from debugtracer.observers.loaders.loader_history import FAR, LoaderHistory
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.facts.batch_content import ElementOdd
from debugtracer.trace.number import number

RANGE_LEARNT, BEYOND = 50, 10.0  # looks, times the learnt range (docs/rationale/checks.md#data_range_extreme)
WORDS = 16  # different ids of a batch of text at least (ours): states, bases and classes of positions come in runs
SHORT, SHORT_LEARNT = 0.5, 5  # share of the usual rows, batches (docs/rationale/checks.md#data_short_batch)
FEW_BATCHES = 20  # an epoch of fewer batches repeats itself on purpose (docs/rationale/checks.md#data_duplicate_batch)
DISTINCT = 8  # different values that the content of a batch has at least before it is called the same (ours)
MOST_CLASSES = 1000  # a wider range of integers is no label (ours)
OFTEN = 10  # looks that held the largest label before a larger one is news (ours: of ids one in fifty batches does)
MOST_APART = 16  # rows of a far batch that are tried to be all that is far in it (ours)
MOST_VALUES = 1 << 22  # elements of a batch that is looked at again without them (ours)
GRAM_EVERY = 10  # looks between two searches for repeated n-grams (ours)
REPLACEMENT, UNREADABLE = "\ufffd", 0.05  # share of characters that could not be decoded (ours)


@dataclass
class Anomaly:
    """One of BatchOddity's kinds, before it is known which backward uses the batch."""

    what: str
    path: str = ""
    rows: tuple[int, ...] = ()
    value: float = 0.0
    usual: float = 0.0
    spread: float = 0.0
    count: int = 0
    of: int = 0
    channel: int | None = None
    detail: str = ""
    element: FarElement | None = None
    """The one number that makes its first row unlike the others, where there is one."""
    extra: dict[str, Any] = field(default_factory=dict)

    def at(self, batch: Batch, asked: bool) -> dict[str, Any]:
        """The column and the element of a fact; `asked`: the line of the data file may be looked for."""
        one = self.element
        if one is None:
            return {"channel": self.channel}
        find = guarded("batch_anomalies.record")(line_of)
        record = find(one.value, batch.loader.dataset_held()) if asked else None
        seen = ElementOdd(self.rows[0], one.place, number(one.value), number(one.low), number(one.high), record)
        return {"channel": self.channel, "element": seen}

    @property
    def times(self) -> float:
        """How many times what is usual the value is; 0 of other kinds than far values, or where 0 is usual."""
        return abs(self.value) / abs(self.usual) if self.what in FAR and self.usual else 0.0


def whole(batch: Batch, look: TensorSummary) -> tuple[int, ...]:
    """Return all rows of the batch."""
    return tuple(range(batch.rows if batch.rows is not None else look.rows))


def of_floats(
    history: LoaderHistory, baseline: Baseline, path: str, leaf: Tensor, look: TensorSummary, batch: Batch
) -> Iterator[Anomaly]:
    """Yield non-finite values, blank and cut rows, channels that stopped moving, far values, other moments."""
    if look.nonfinite and not look.minus_inf_only:
        yield Anomaly("nonfinite", path, look.bad_rows, count=look.nonfinite, of=leaf.numel())
    blank = blank_rows(look, leaf.numel() // max(look.rows, 1))
    if blank and not baseline.had_blank:
        if baseline.looks >= FEW_BATCHES:
            yield Anomaly(
                "blank",
                path,
                blank,
                value=look.row_low[blank[0]] if look.row_low else 0.0,
                count=len(blank),
                of=look.rows,
            )
        else:
            baseline.had_blank = True
    yield from of_images(baseline, path, leaf, look, blank)
    for channel in baseline.still_now(look)[:4]:
        value = leaf.select(1 if leaf.dim() != 3 or leaf.shape[1] == look.channels else 2, channel).reshape(-1)[0]
        yield Anomaly(
            "constant", path, whole(batch, look), value=float(value), channel=channel, count=1, of=look.channels
        )
    for wide in of_range(baseline, path, look):
        element = far_element(leaf, wide.rows[0]) if wide.rows else None
        yield replace(wide, channel=furthest_column(leaf, wide.rows, wide.value > wide.usual), element=element)
    distances = baseline.distances(look)
    apart = rows_apart(baseline, leaf, look) if distances else ()
    element = far_element(leaf, apart[0]) if apart else None
    for far in distances:
        rows = apart or whole(batch, look)
        yield Anomaly("content", path, rows, far.value, far.usual, far.spread, detail=far.respect, element=element)


def rows_apart(baseline: Baseline, leaf: Tensor, look: TensorSummary) -> tuple[int, ...]:
    """Return the rows that reach furthest out, where the others alone would be a batch like all; else none. The medians
    say what is usual: a batch with such rows may have been learnt."""
    if look.row_low is None or look.row_high is None or not baseline.low.values or leaf.numel() > MOST_VALUES:
        return ()
    low, high = baseline.low.centre, baseline.high.centre
    out = [max(low - a, b - high) for a, b in zip(look.row_low, look.row_high, strict=True)]
    ordered = sorted((row for row in range(look.rows) if out[row] > 0), key=lambda row: -out[row])
    for count in range(1, min(len(ordered), look.rows // 2, MOST_APART) + 1):
        gone = set(ordered[:count])
        if not baseline.distances(look_at(leaf[[row for row in range(look.rows) if row not in gone]])):
            return tuple(sorted(gone))
    return ()


def of_images(
    baseline: Baseline, path: str, leaf: Tensor, look: TensorSummary, blank: tuple[int, ...]
) -> Iterator[Anomaly]:
    """Yield images that end in one value, where no image of the first batches had a last line of one value."""
    cut = tuple(row for row in look.cut if row not in blank)
    if look.plain_edge and baseline.looks < FEW_BATCHES:
        baseline.had_cut = True
    if not cut or baseline.had_cut:
        return
    share = cut_share(leaf[cut[0]], lines_of(leaf) or 1)
    yield Anomaly("cut", path, cut, value=share, count=len(cut), of=look.rows)


def furthest_column(leaf: Tensor, rows: tuple[int, ...], above: bool) -> int | None:
    """The column of the furthest value of these rows, where a sample is one row of columns; syncs the host, for a batch
    that is far from all others alone."""
    if leaf.dim() != 2 or leaf.is_sparse or not rows:
        return None
    values = leaf.detach()[list(rows)]
    return int((values.argmax() if above else values.argmin()) % leaf.shape[1])


def of_range(baseline: Baseline, path: str, look: TensorSummary) -> Iterator[Anomaly]:
    """Yield rows far outside everything seen lately."""
    if baseline.looks < RANGE_LEARNT or look.row_low is None or look.row_high is None or not baseline.low.values:
        return
    least, most = min(baseline.low.values), max(baseline.high.values)
    width = most - least
    if width <= 0:
        return
    low, high = least - (BEYOND - 1) * width, most + (BEYOND - 1) * width
    if look.low >= low and look.high <= high:
        return
    rows = tuple(row for row, (a, b) in enumerate(zip(look.row_low, look.row_high, strict=True)) if a < low or b > high)
    value = look.high if look.high > high else look.low
    yield Anomaly("range", path, rows, value, most if look.high > high else least, width, count=len(rows), of=look.rows)


def of_integers(
    history: LoaderHistory, baseline: Baseline, path: str, leaf: Tensor, look: TensorSummary, batch: Batch
) -> Iterator[Anomaly]:
    """Yield labels that are all ignored, other tokens than usual, padding and repetition."""
    if look.low == look.high and look.low < 0 and baseline.varied:
        yield Anomaly("ignored", path, whole(batch, look), value=look.low, count=leaf.numel(), of=leaf.numel())
    if look.role == "label" and baseline.role == "label":
        yield from of_labels(baseline, path, leaf, look)
    baseline.varied |= look.low != look.high
    if look.role != "ids" or leaf.dim() != 2:
        return
    unusual = baseline.distances(look)
    for far in unusual:
        yield Anomaly("content", path, whole(batch, look), far.value, far.usual, far.spread, detail=far.respect)
    pad = pad_value(leaf)
    lengths = lengths_of(leaf, pad) if pad is not None else None
    baseline.learn_padding(lengths, leaf.shape[1], pad)
    asked = baseline.looks % GRAM_EVERY == 0 or unusual
    # no token is below 0: a label masked by one repeats it rightly
    if asked and look.low >= 0 and not labels_positions(leaf, batch) and len(leaf.unique()) >= WORDS:
        for one in repeats(leaf, lengths)[:8]:
            yield Anomaly("ngram", path, (one.row,), value=one.share, count=one.length, of=leaf.shape[1])


def labels_positions(leaf: Tensor, batch: Batch) -> bool:
    """Whether integers stand beside floats of as many rows and positions (points, frames): a class of each, no text."""
    return any(
        other.dim() > 2 and other.is_floating_point() and other.shape[:2] == leaf.shape for _, other in batch.tensors()
    )


def of_labels(baseline: Baseline, path: str, leaf: Tensor, look: TensorSummary) -> Iterator[Anomaly]:
    """A label that no batch has had before, below or above all others, where the last of those on that side came again
    and again: of many ids the last one is met now and then."""
    least, most = baseline.ever or (look.low, look.high)
    baseline.ever = (min(least, look.low), max(most, look.high))
    lows, highs = baseline.reached
    baseline.reached = (
        (lows if look.low >= least else 0) + (look.low <= least),
        (highs if look.high <= most else 0) + (look.high >= most),
    )
    often = highs if look.high > most else lows
    beyond = baseline.looks >= RANGE_LEARNT and baseline.ever != (least, most) and most - least < MOST_CLASSES
    if beyond and often >= OFTEN:
        value = look.high if look.high > most else look.low
        rows = tuple((leaf.reshape(-1) == int(value)).nonzero().view(-1).tolist())
        yield Anomaly("label", path, rows, value, most if value > most else least, count=len(rows), of=look.rows)


def of_masks(leaves: list[tuple[str, Tensor, TensorSummary]], history: LoaderHistory) -> Iterator[Anomaly]:
    """Yield rows of padding masks without a token, and targets that count at padded positions."""
    for path, mask, look in leaves:
        if look.role != "mask" or mask.dim() != 2 or mask.shape[1] < 2:
            continue
        ids = [(p, t) for p, t, other in leaves if other.role == "ids" and t.shape == mask.shape]
        if not ids or not is_padding_mask(mask):
            continue
        kept = mask.bool()
        lengths = kept.sum(1)
        empty = tuple((lengths == 0).nonzero().view(-1).tolist())
        if empty:
            yield Anomaly("empty", path, empty, count=len(empty), of=mask.shape[0])
        history.baselines[ids[0][0]].learn_padding(lengths, mask.shape[1], None)
        share = 1.0 - float(kept.double().mean())
        for p, t in ids[1:]:
            padding = t[~kept]
            # padding is one token; other targets may count by right
            if share > 0 and int(padding.min()) >= 0 and int(padding.min()) == int(padding.max()):
                yield Anomaly(
                    "pad-labels",
                    p,
                    value=share,
                    rows=tuple(range(mask.shape[0])),
                    detail=ids[0][0],
                    count=int((~kept).sum()),
                    of=mask.numel(),
                )


def ends_dataset(batch: Batch) -> bool:
    """Whether the samples of a dataset are over with this batch: of loaders that one line builds, each has its own
    number of batches."""
    size, length = batch.loader.batch_size, batch.loader.dataset_len()
    return size is not None and length is not None and (batch.number + 1) * size >= length


def of_batch(history: LoaderHistory, batch: Batch, looks: list[TensorSummary]) -> Iterator[Anomaly]:
    """The same content again in one epoch, and far fewer rows than usual."""
    usual, rows = history.usual_rows(), batch.rows
    if (
        rows is not None
        and history.note.batches is not None
        and len(history.rows) >= SHORT_LEARNT
        and rows < SHORT * usual
        and history.rows_alike()
        and batch.number < history.note.batches - 1
        and not ends_dataset(batch)
    ):
        yield Anomaly("short", value=rows, usual=usual)
    if rows is not None:
        history.rows.append(rows)
    few = history.note.batches is not None and history.note.batches < FEW_BATCHES
    content = tuple(look.content for look in looks)
    if few or not looks or len({v for one in content for v in one[1:]}) < DISTINCT:
        return
    known = history.remember(hash(content), batch.number, batch.indices)
    if known is not None and known[0] != batch.number:
        same = (
            "unknown" if batch.indices is None or known[1] is None else "same" if batch.indices == known[1] else "other"
        )
        yield Anomaly(
            "duplicate", rows=tuple(range(rows or 0)), value=known[0], count=batch.number - known[0], detail=same
        )


def of_texts(data: Any) -> Iterator[Anomaly]:
    """Yield strings of the batch with characters that could not be decoded."""
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (list, tuple)) else ()
    for key, part in list(parts)[:16]:
        if not isinstance(part, (list, tuple)) or not part or not isinstance(part[0], str):
            continue
        bad = [
            row
            for row, text in enumerate(part)
            if isinstance(text, str) and text and text.count(REPLACEMENT) > UNREADABLE * len(text)
        ]
        if bad:
            share = sum(part[row].count(REPLACEMENT) for row in bad) / sum(len(part[row]) for row in bad)
            yield Anomaly("unreadable", f"batch[{key!r}]", tuple(bad), value=share, count=len(bad), of=len(part))
