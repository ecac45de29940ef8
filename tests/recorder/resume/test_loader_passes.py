"""How far a loop is in its loaders."""

from __future__ import annotations

import weakref
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.loading.loader import LoaderHook
from debugtracer.recorder.listeners import PassListener
from debugtracer.recorder.resume.loader_passes import LoaderPass, LoaderPasses, key_of, own_generators
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack


class Unheard(LoopEvents):
    """Nobody listens to the loader."""


def a_loader(rows: int = 12, **words: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.arange(float(rows))), batch_size=4, **words)


def begun(passes: LoaderPasses, loader: DataLoader[Any]) -> Any:
    passes.begins(loader)
    iterator = iter(loader)
    passes.begun(loader, iterator)
    return iterator


def test_passes_and_batches_are_counted() -> None:
    passes, loader = LoaderPasses(), a_loader()
    begun(passes, loader)
    iterator = begun(passes, loader)
    next(iterator)
    (place,) = passes.places()
    assert (place["loader"], place["passes"], place["batches"]) == ("TensorDataset of 12 samples, 4 a batch", 2, 1)
    assert passes.inside()
    del iterator
    assert passes.places()[0]["batches"] is None and not passes.inside()


def test_the_last_batch_of_a_pass_is_given_again() -> None:
    passes, loader = LoaderPasses(), a_loader()
    iterator = begun(passes, loader)
    for _ in range(3):
        next(iterator)
    assert passes.places()[0]["batches"] == 2 and not passes.inside()


def test_a_loader_that_is_built_anew_for_each_pass_is_one() -> None:
    passes = LoaderPasses()
    for _ in range(3):
        loader = a_loader()
        iterator = begun(passes, loader)
    assert iterator is not None and [place["passes"] for place in passes.places()] == [3]


def test_what_the_order_is_drawn_from_is_kept() -> None:
    own = torch.Generator().manual_seed(3)
    passes, loader = LoaderPasses(), a_loader(shuffle=True, generator=own)
    before, ours = torch.get_rng_state(), own.get_state()
    begun(passes, loader)
    (place,) = passes.places()
    assert torch.equal(place["generators"]["torch"], before) and torch.equal(place["own"][0], ours)
    assert list(own_generators(loader)) == [own] and key_of(loader).endswith("4 a batch")


class Ending(PassListener):
    """Ends the second pass that it hears of, and listens no more."""

    waiting = True
    fetches = 0

    def before_fetch(self, iterator: Any) -> bool:
        self.fetches += 1
        self.waiting = self.fetches < 2
        return not self.waiting


def test_what_it_hears_is_handed_on_while_somebody_waits() -> None:
    passes, listener, iterator = LoaderPasses(), Ending(), iter(a_loader())
    assert not passes.waiting
    passes.add_listener(listener)
    assert passes.waiting and not passes.before_fetch(iterator)
    assert passes.before_fetch(iterator) and not passes.waiting
    assert not passes.before_fetch(iterator) and listener.fetches == 2


def test_a_loader_of_accelerate_is_one_batch_ahead_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    shards = pytest.importorskip("accelerate.data_loader")
    passes, seen = LoaderPasses(), list[int | None]()
    hook = LoaderHook(Unheard(), BatchLog(), ModeStack(), RunState(), TrainingThread(), passes, None)
    hook.install()
    try:
        for _ in shards.DataLoaderShard(TensorDataset(torch.arange(12.0)), batch_size=4):
            seen.append(passes.places()[0]["batches"])
    finally:
        hook.remove()
    assert seen == [1, 2, 2]  # of the last one the loop is given one again


class Held:
    """Something that a weak reference can lead to."""

    _num_yielded = 2
    end_of_dataloader = False


def test_a_pass_that_goes_on_leaves_out_what_the_loop_was_handed() -> None:
    one, held, shard = LoaderPass(), Held(), Held()
    assert (one.drawn(), one.exhausted(), one.ahead(), one.batches()) == (None, False, 0, None)
    one.iterator = weakref.ref(held)
    assert (one.drawn(), one.exhausted(), one.batches()) == (2, False, 2)
    one.length = 3
    assert (one.exhausted(), one.batches()) == (False, 2)
    one.length = 2
    assert (one.exhausted(), one.batches()) == (True, 1)
    one.length = None
    one.shard = weakref.ref(shard)
    assert (one.ahead(), one.batches()) == (1, 1)
    shard.end_of_dataloader = True
    assert (one.ahead(), one.batches()) == (0, 2)
    del shard
    assert one.ahead() == 0
    one.length, held._num_yielded = 0, 0
    assert one.batches() == 0
