"""What a run was set to, as plain words: command, versions, loaders, loss, optimizer, seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from debugtracer.trace.birth import Frame
from debugtracer.trace.counted import counted
from debugtracer.trace.events import Observed, RankStarted
from debugtracer.trace.facts.batch_content import BatchSchema
from debugtracer.trace.facts.decay_share import DecayShare
from debugtracer.trace.facts.devices import Devices
from debugtracer.trace.facts.fact import Fact, from_plain
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.facts.seeds import Seeds
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.store.reader import Trace

Rows = dict[str, str]


def run_settings(trace: Trace, rank: int = 0) -> Rows:
    """Name -> words, the first that were seen of each; of a fact that this run has not there is no row. Raises
    TraceError."""
    manifest = trace.manifest
    rows: Rows = {
        "command": " ".join(manifest.command),
        "folder": manifest.cwd,
        "mode": manifest.mode,
        "machine": manifest.host,
        "python": manifest.python,
    }
    for event in trace.events(rank, snapshots=False):
        if isinstance(event, RankStarted):
            rows |= {"torch": event.torch, "device": event.device, "ranks": str(event.world_size)}
        elif isinstance(event, Observed) and event.word in WORDS:
            fact = from_plain(event.word, event.fact)
            for name, word in WORDS[event.word](fact) if fact is not None else ():
                rows.setdefault(name, word)
    return {name: word for name, word in rows.items() if word}


def line_of(frame: Frame | None) -> str:
    """The user's line, without its number: that moves with every edit above it."""
    return frame.code if frame is not None else ""


def of_loader(fact: LoaderSeen) -> list[tuple[str, str]]:
    """The dataset, size and order of a loader."""
    name = f"loader {fact.loader}"
    order = {True: "shuffled", False: "in order", None: "order unknown"}[fact.shuffles]
    length = counted(fact.length, "sample") if fact.length is not None else "length unknown"
    return [
        (f"{name}, dataset", f"{fact.dataset}, {length}"),
        (f"{name}, batch size", str(fact.batch_size or "")),
        (f"{name}, order", f"{order}, {fact.sampler}"),
        (f"{name}, workers", str(fact.workers)),
        (f"{name}, line", line_of(fact.frame)),
    ]


def of_batch(fact: BatchSchema) -> list[tuple[str, str]]:
    """The dtype and shape of each tensor of a batch."""
    return [(leaf.path, f"{leaf.dtype} {'x'.join(map(str, leaf.shape)) or 'scalar'}") for leaf in fact.leaves[:12]]


def of_loss(fact: LossCall) -> list[tuple[str, str]]:
    """The function and arguments of the loss."""
    return [
        ("loss", f"{fact.loss}, reduction {fact.reduction}"),
        ("loss, classes", str(fact.classes or "")),
        ("loss, label smoothing", f"{fact.label_smoothing:g}" if fact.label_smoothing else ""),
        ("loss, ignored label", str(fact.ignore_index) if fact.ignore_index is not None else ""),
        ("loss, class weights", "yes" if fact.weighted else ""),
        ("loss, line", line_of(fact.frame)),
    ]


def of_rate(fact: Rate) -> list[tuple[str, str]]:
    """The kind of an optimizer and the learning rate it began with."""
    low, high = float(fact.low), float(fact.high)
    name = f"optimizer {fact.optimizer}"
    return [
        (name, fact.kind),
        (f"{name}, first learning rate", f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"),
        (f"{name}, scheduler", fact.scheduler),
        (f"{name}, line", line_of(fact.frame)),
    ]


def of_decay(fact: DecayShare) -> list[tuple[str, str]]:
    """The weight decay of an optimizer."""
    return [(f"optimizer {fact.optimizer}, weight decay", f"{float(fact.decay):g}")]


def of_seeds(fact: Seeds) -> list[tuple[str, str]]:
    """The seed of each generator."""
    return [
        (f"seed of {row.source}", ("not set" if not row.seeded else str(row.value if row.value is not None else "set")))
        for row in fact.rows
    ]


def of_devices(fact: Devices) -> list[tuple[str, str]]:
    """Where the parameters live."""
    return [("parameters on", ", ".join(f"{device} ({count})" for device, count in fact.counts))]


def of_wiring(fact: Wiring) -> list[tuple[str, str]]:
    """How many parameters the model has, and how many train."""
    numbers = sum(one.numel for one in fact.params)
    trained = sum(one.trainable for one in fact.params)
    return [("parameters", f"{len(fact.params)} tensors, {numbers} numbers, {trained} trainable")]


READERS: dict[type[Fact], Callable[[Any], list[tuple[str, str]]]] = {
    LoaderSeen: of_loader,
    BatchSchema: of_batch,
    LossCall: of_loss,
    Rate: of_rate,
    DecayShare: of_decay,
    Seeds: of_seeds,
    Devices: of_devices,
    Wiring: of_wiring,
}
WORDS = {kind.word(): reader for kind, reader in READERS.items()}
