"""The samples of a batch fetched from their dataset again, without the transforms that draw random numbers. Generators
and plain attributes are as before."""

from __future__ import annotations

import copy
import gc
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterableDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter

from debugtracer.errors import ReplayRefused
from debugtracer.observers.loaders.refetch import parts_of, restored
from debugtracer.recorder.state.leaves import leaves_of
from debugtracer.recorder.state.rng import RngState
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.recorder.tape.entry import Leaf

# torchvision's names of them, and the two that people give a flag
SWITCHES = ("transform", "transforms", "target_transform", "augment", "augmentation")


def refetched(batches: BatchLog, leaves: Sequence[Leaf]) -> dict[int, Tensor]:
    """Map the id of a leaf to its new value, same shape, dtype and device. Raises ReplayRefused with the reason."""
    found = {id(leaf): (leaf, hit) for leaf in leaves if (hit := batches.find(leaf.tensor)) is not None}
    if not found:
        raise ReplayRefused("no input of the step came straight from a DataLoader")
    made: dict[int, dict[str, Tensor]] = {}
    values: dict[int, Tensor] = {}
    for key, (leaf, (batch, path)) in found.items():
        if id(batch) not in made:
            made[id(batch)] = fetched(batch)
        value = made[id(batch)].get(path)
        if value is None or value.shape != leaf.tensor.shape:
            raise ReplayRefused("without its random transforms the dataset gives another shape")
        values[key] = value.to(leaf.tensor)
    return values


def fetched(batch: Batch) -> dict[str, Tensor]:
    """Fetch the batch anew: path -> tensor. Raises ReplayRefused."""
    dataset = batch.loader.data() if batch.loader.data is not None else getattr(batch.loader.loader(), "dataset", None)
    loader = source(batch.loader.loader(), dataset)
    if dataset is None or isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
        raise ReplayRefused("the dataset is a stream" if dataset is not None else "the dataset of the batch is gone")
    if batch.indices is None:
        raise ReplayRefused("the dataset indices of the batch are not known")
    if batch.loader.num_workers and loader["worker_init_fn"] is not None:
        raise ReplayRefused("the workers are set up by a worker_init_fn that does not run here")
    plain = without_draws(dataset)
    if plain is None:
        raise ReplayRefused("the dataset has no transform")
    with restored(dataset), torch.no_grad():
        before = states([])
        try:
            samples = [plain[index] for index in batch.indices]
            made = loader["collate_fn"](samples if loader["auto_collation"] else samples[0])
        except Exception as error:
            raise ReplayRefused(f"fetching the samples again failed ({type(error).__name__})") from error
        if before != states([]):
            raise ReplayRefused("the dataset draws random numbers outside its transforms")
    return dict(leaves_of(made))


def source(loader: Any, dataset: Any) -> dict[str, Any]:
    """How a batch is made of samples: from the DataLoader, or from its running iterator when nobody holds the loader
    (`for x in DataLoader(...)`)."""
    if loader is not None:
        return {
            "collate_fn": loader.collate_fn,
            "worker_init_fn": loader.worker_init_fn,
            "auto_collation": loader._auto_collation,
        }
    for one in gc.get_objects():
        if issubclass(type(one), _BaseDataLoaderIter) and one._dataset is dataset:
            return {
                "collate_fn": one._collate_fn,
                "worker_init_fn": getattr(one, "_worker_init_fn", None),
                "auto_collation": one._auto_collation,
            }
    raise ReplayRefused("the DataLoader of the batch is gone")


def without_draws(dataset: Any) -> Any:
    """A shallow copy, containers included, whose transforms skip what draws; None when it has none. A Subset's dataset
    is looked into."""
    attributes = getattr(dataset, "__dict__", {})
    changed = {name: plain_form(attributes[name]) for name in SWITCHES if attributes.get(name)}
    inner = without_draws(attributes["dataset"]) if "dataset" in attributes else None
    if inner is not None:
        changed["dataset"] = inner
    if not changed:
        return None
    plain = copy.copy(dataset)
    for name, value in attributes.items():
        if isinstance(value, (dict, list, set)):  # a cache of samples must not learn these
            plain.__dict__[name] = copy.copy(value)
    plain.__dict__.update(changed)
    return plain


def plain_form(transform: Any) -> Any:
    """A flag is off; a chain keeps its parts, each in its plain form; a callable skips itself when it draws."""
    if isinstance(transform, bool):
        return False
    if isinstance(transform, (list, tuple)):
        return type(transform)([plain_form(part) for part in transform])
    parts = getattr(transform, "transforms", None)
    if isinstance(parts, (list, tuple)):
        chain = copy.copy(transform)
        chain.transforms = plain_form(parts)
        return chain
    return skipping(transform) if callable(transform) else transform


def skipping(transform: Callable[..., Any]) -> Callable[..., Any]:
    """The transform; where a call of it drew random numbers, its input in place of its output."""

    def call(*args: Any, **kwargs: Any) -> Any:
        owned, state = list(generators(transform)), RngState()
        before = states(owned)
        given = copy.deepcopy(args) if args else args  # it may write into its input
        made = transform(*args, **kwargs)
        drawn = before != states(owned)
        state.restore()
        return made if not drawn or not given else given[0] if len(given) == 1 else given

    return call


def generators(transform: Any) -> Iterator[Any]:
    """The generators that a transform holds."""
    for owner in parts_of(transform):
        if isinstance(owner, random.Random):
            yield owner.getstate
        for value in list(getattr(owner, "__dict__", {}).values()):
            if isinstance(value, torch.Generator):
                yield lambda held=value: held.get_state().numpy().tobytes()
            elif hasattr(value, "bit_generator"):
                yield lambda held=value: repr(held.bit_generator.state)


def states(owned: Sequence[Callable[[], Any]]) -> list[Any]:
    """The global generators and these, in a form that can be compared."""
    numpy = sys.modules.get("numpy")
    legacy = numpy.random.get_state() if numpy is not None else ("", b"", 0)
    return [
        torch.default_generator.get_state().numpy().tobytes(),
        random.getstate(),
        bytes(legacy[1]),
        legacy[2:],
        *(state() for state in owned),
    ]
