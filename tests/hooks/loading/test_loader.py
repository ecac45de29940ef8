"""Facts about what the loader hook sees; each with a real DataLoader, real workers, real samplers."""

from __future__ import annotations

import gc
import inspect
import pickle
import threading
import weakref

import pytest
import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Subset, WeightedRandomSampler
from torch.utils.data.dataloader import _BaseDataLoaderIter, _SingleProcessDataLoaderIter

from debugtracer.errors import StoppedByTracer
from debugtracer.hooks.events.loop_events import LoopEvents
from debugtracer.hooks.events.training_thread import TrainingThread
from debugtracer.hooks.free_calls import FreeCallMode
from debugtracer.hooks.inspection import Inspection
from debugtracer.hooks.loading.loader import LoaderHook
from debugtracer.hooks.module import ModuleHook
from debugtracer.recorder.call_cost import CallCost
from debugtracer.recorder.run_state import RunState
from debugtracer.recorder.tape.batches import BatchLog
from debugtracer.recorder.tape.mode_stack import ModeStack
from debugtracer.recorder.tape.step_tape import Tape
from tests.observers import loader_data as data

ITERATOR = ("__init__", "__next__", "_next_index")
PATCHED = [(DataLoader, "__init__"), (DataLoader, "__iter__"), *((_BaseDataLoaderIter, name) for name in ITERATOR)]


@pytest.fixture(autouse=True)
def _strict(monkeypatch):
    monkeypatch.setenv("DEBUG_TRACER_STRICT", "1")


class Told(LoopEvents):
    """What a session would hear; `fail` runs at each fetch."""

    def __init__(self):
        self.calls, self.epochs, self.given, self.repeats = [], [], [], []
        self.fail = None

    def next_fetch(self):
        self.calls.append("before")

    def again(self, iterator):
        return self.repeats.pop() if self.repeats else None

    def fetched(self, batch, data):
        self.calls.append(batch.number)
        if self.fail is not None:
            self.fail()

    def handed_out(self, iterator, data):
        self.given.append((iterator, data))

    def loader_iterated(self, info, iterator):
        self.epochs.append((info, iterator))


def a_probe(events=None, stack=None):
    return LoaderHook(events or Told(), BatchLog(), stack or ModeStack(), RunState(), TrainingThread(), None, None)


@pytest.fixture
def probe():
    made = a_probe()
    made.install()
    yield made
    made.remove()


def first_tensor(batch):
    return batch if isinstance(batch, torch.Tensor) else batch[0]


def check(probe, loader, epochs=2):
    """Every row of every batch is the dataset's row at the index told; returns the indices seen."""
    seen = []
    for _ in range(epochs):
        for number, batch in enumerate(loader):
            known, x = probe.log.last(), first_tensor(batch)
            assert known.indices is not None, known.note
            assert (known.number, known.rows) == (number, len(x))
            for row, index in enumerate(known.indices):
                told = loader.dataset[index]
                assert torch.equal(told[0] if isinstance(told, tuple) else told, x[row])
            seen.append(known.indices)
    return seen


WORKERS = {
    "here": {},
    "fork": {"num_workers": 2, "multiprocessing_context": "fork"},
    "spawn": {"num_workers": 2, "multiprocessing_context": "spawn"},
    "persistent": {"num_workers": 2, "persistent_workers": True, "multiprocessing_context": "fork"},
    "prefetch": {"num_workers": 3, "prefetch_factor": 4, "multiprocessing_context": "fork"},
}


@pytest.mark.parametrize("workers", WORKERS.values(), ids=WORKERS.keys())
def test_each_row_is_the_dataset_row_at_its_index_shuffled_and_with_a_short_last_batch(probe, workers):
    seen = check(probe, DataLoader(data.Rows(), batch_size=8, shuffle=True, **workers))
    assert sorted(sum(seen[:6], ())) == list(range(data.SIZE))
    assert len(seen[5]) == data.SIZE % 8


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "options",
    [
        {"batch_sampler": data.Backwards()},
        {"batch_sampler": BatchSampler(RandomSampler(range(data.SIZE)), 6, True)},
        {"sampler": WeightedRandomSampler([1.0] * data.SIZE, 30), "batch_size": 4},
        {"batch_size": 8, "drop_last": True},
        {"sampler": data.tensor_sampler(), "batch_size": 2},
        {"sampler": data.numpy_sampler(), "batch_size": 2},
    ],
    ids=["own batch sampler", "torch batch sampler", "weighted", "drop_last", "tensor indices", "numpy indices"],
)
def test_indices_are_those_of_the_sampler(probe, workers, options):
    seen = check(probe, DataLoader(data.Rows(), num_workers=workers, **options))
    assert all(type(index) is int for index in sum(seen, ()))


def test_an_epoch_broken_off_leaves_nothing_behind_with_persistent_workers(probe):
    loader = DataLoader(
        data.Rows(), batch_size=1, shuffle=True, num_workers=2, persistent_workers=True, prefetch_factor=4
    )
    for length in (30, 2, 5, 43):
        for count, (_, y) in enumerate(loader, 1):
            assert probe.log.last().indices == tuple(y.tolist())
            if count == length:
                break


def test_a_subset_is_not_unwrapped(probe):
    subset = Subset(data.Rows(), [30, 31, 32, 33])
    assert check(probe, DataLoader(subset, batch_size=2), epochs=1) == [(0, 1), (2, 3)]


def test_batches_out_of_order_keep_their_own_indices(probe):
    loader = DataLoader(data.Uneven(), batch_size=2, num_workers=2, in_order=False)
    seen = []
    for x, _ in loader:
        assert probe.log.last().indices == tuple(int(row[0]) for row in x)
        seen.append(probe.log.last().indices)
    assert seen != sorted(seen)
    assert sorted(sum(seen, ())) == list(range(data.SIZE))


@pytest.mark.parametrize("workers", [0, 2])
def test_without_batching_each_row_of_an_item_has_the_items_index(probe, workers):
    for place, x in enumerate(DataLoader(data.Chunks(), batch_size=None, num_workers=workers)):
        known = probe.log.last()
        assert known.indices == (place, place)
        assert float(x[1, 0]) == place
        assert known.samples([0, 1]) == (place,)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sampler_of_lists_without_batching_gives_one_index_a_row(probe, workers):
    loader = DataLoader(data.ByList(), batch_size=None, sampler=[[4, 2], [9, 9, 1]], num_workers=workers)
    for x in loader:
        assert probe.log.last().indices == tuple(int(row[0]) for row in x)


def test_a_stream_gives_positions(probe):
    for _ in range(2):
        for x in DataLoader(data.Stream(), batch_size=8):
            assert probe.log.last().indices == tuple(int(row[0]) for row in x)
    assert probe.log.last().rows == data.SIZE % 8


def test_a_stream_with_workers_gives_the_position_as_handed_out(probe):
    handed_out = 0
    for x in DataLoader(data.Sharded(), batch_size=4, num_workers=2):
        assert probe.log.last().indices == tuple(range(handed_out, handed_out + len(x)))
        handed_out += len(x)
    assert handed_out == 20


def test_an_unbatched_stream_gives_its_position(probe):
    seen = [probe.log.last().samples([0]) for _ in DataLoader(data.Stream(), batch_size=None)]
    assert seen == [(place,) for place in range(data.SIZE)]


@pytest.mark.parametrize("dataset", [data.Rows(), data.Stream()])
def test_a_collate_function_that_drops_rows_makes_the_indices_unknown_and_says_so(probe, dataset):
    collate = data.drop_first if isinstance(dataset, data.Rows) else lambda samples: torch.stack(samples[1:])
    next(iter(DataLoader(dataset, batch_size=4, collate_fn=collate)))
    known = probe.log.last()
    assert (known.rows, known.indices) == (3, None)
    assert "collate_fn changed the rows" in known.note


def test_keys_that_are_not_integers_have_no_index(probe):
    next(iter(DataLoader(data.Keyed(), sampler=["a", "bb", "ccc"], batch_size=2)))
    assert probe.log.last().indices is None
    assert probe.log.last().note == "the sampler does not yield integers"


@pytest.mark.parametrize(
    ("collate", "paths"),
    [
        (data.as_dict, ["batch['x']", "batch['meta']['y']"]),
        (data.as_pair, ["batch.x", "batch.y"]),
        (data.as_list, ["batch[0][0]", "batch[1][0]", "batch[2][0]", "batch[3][0]"]),
        (data.transposed, ["batch[0][0]", "batch[0][1]", "batch[0][2]", "batch[0][3]"]),
    ],
)
def test_leaves_have_the_path_a_person_would_write(probe, collate, paths):
    next(iter(DataLoader(data.Rows(), batch_size=4, collate_fn=collate)))
    known = probe.log.last()
    assert [path for path, _ in known.leaves] == paths
    assert known.indices == (0, 1, 2, 3)


def test_zipped_loaders_and_a_validation_loop_inside_training_do_not_mix(probe):
    left, right, check_loader = (
        DataLoader(data.Rows(), batch_size=4, shuffle=True, num_workers=workers) for workers in (0, 2, 0)
    )
    for (x, y), (u, v) in zip(left, right, strict=True):
        for inner, _ in check_loader:
            assert probe.log.last().indices == tuple(inner[:, 0].int().tolist())
            break
        for tensor, indices in ((x, y), (u, v)):
            batch, path = probe.log.find(tensor)
            assert (batch.indices, path) == (tuple(indices.tolist()), "batch[0]")
            assert batch.loader.loader() is (left if tensor is x else right)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_dataset_error_passes_untouched_and_the_next_batch_is_right(probe, workers):
    iterator = iter(DataLoader(data.Failing(), batch_size=4, num_workers=workers))
    for number in range(6):
        if number == 2:
            with pytest.raises(ValueError, match="sample 9 is broken"):
                next(iterator)
            continue
        x, _ = next(iterator)
        assert probe.log.last().indices == tuple(x[:, 0].int().tolist()) == tuple(range(4 * number, 4 * number + 4))


def test_stop_iteration_passes_and_the_end_can_be_asked_again(probe):
    iterator = iter(DataLoader(data.Rows(), batch_size=data.SIZE))
    next(iterator)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_the_line_is_the_users_not_that_of_a_subclass_constructor(probe):
    class Mine(DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)

    loader = Mine(data.Rows(), batch_size=2)
    frame = probe.info(loader).frame
    assert frame.file == __file__
    assert frame.code == "loader = Mine(data.Rows(), batch_size=2)"


def test_facts_name_dataset_sampler_and_sizes(probe):
    loader = DataLoader(data.Rows(), batch_size=4, shuffle=True)
    next(iter(loader))
    facts = probe.log.facts(probe.log.last())
    assert (facts.dataset, facts.dataset_len, facts.batch_size, facts.num_workers, facts.sampler) == (
        "Rows",
        data.SIZE,
        4,
        0,
        "RandomSampler",
    )
    assert facts.indices == probe.log.last().indices
    assert facts.frame.code == "loader = DataLoader(data.Rows(), batch_size=4, shuffle=True)"


def test_facts_of_a_stream_and_of_a_batch_sampler(probe):
    assert probe.info(DataLoader(data.Stream(), batch_size=4)).dataset_len() is None
    assert probe.info(DataLoader(data.Rows(), batch_sampler=data.Backwards())).sampler == "Backwards"


def test_remove_restores_every_function():
    before = [vars(owner).get(name) for owner, name in PATCHED]
    probe = a_probe()
    probe.install()
    assert all(vars(owner)[name] is not old for (owner, name), old in zip(PATCHED, before, strict=True))
    probe.remove()
    assert [vars(owner).get(name) for owner, name in PATCHED] == before


def test_patched_functions_keep_name_signature_and_picklability(probe):
    assert DataLoader.__init__.__qualname__ == "DataLoader.__init__"
    assert "prefetch_factor" in inspect.signature(DataLoader.__init__).parameters
    for owner, name in PATCHED:
        assert pickle.loads(pickle.dumps(getattr(owner, name))) is getattr(owner, name)
    assert pickle.loads(pickle.dumps(DataLoader(data.Rows(), batch_size=3))).batch_size == 3


def test_a_removed_probe_sees_nothing(probe):
    probe.remove()
    next(iter(DataLoader(data.Rows())))
    assert probe.log.last() is None


def test_a_loader_older_than_the_probe_is_told_without_a_line():
    loader = DataLoader(data.Rows(), batch_size=4)
    running = iter(DataLoader(data.Rows(), batch_size=4, num_workers=2))
    next(running)
    probe = a_probe()
    probe.install()
    try:
        next(running)
        assert probe.log.last().indices is None
        assert probe.log.last().note == "the loader was running before debug-tracer came"
        check(probe, loader)
        assert probe.info(loader).frame is None
    finally:
        probe.remove()


def test_waiting_is_measured_and_read_once(probe):
    list(DataLoader(data.Uneven(), batch_size=data.SIZE, num_workers=1))
    assert probe.state.take_wait_s() >= data.SIZE * 0.02
    assert probe.state.take_wait_s() == 0.0


def test_the_users_dataset_and_collate_code_run_paused():
    stack, seen = ModeStack(), []
    probe = a_probe(stack=stack)
    mode = FreeCallMode(
        probe.events, TrainingThread(), Tape(lambda: ()), stack, Inspection(lambda: False), CallCost(RunState())
    )
    probe.install()
    mode.install()
    try:
        list(DataLoader(data.Rows(), batch_size=8, collate_fn=lambda samples: seen.append(stack.listening())))
        assert stack.listening()
    finally:
        mode.remove()
        probe.remove()
    assert set(seen) == {False}


def test_events_stand_round_each_fetch(probe):
    loader = DataLoader(data.Rows(), batch_size=30)
    batches = list(loader)
    assert probe.events.calls == ["before", 0, "before", 1, "before"]
    ((info, iterator),) = probe.events.epochs
    assert info.loader() is loader
    assert [
        (one is iterator, given is batch) for (one, given), batch in zip(probe.events.given, batches, strict=True)
    ] == [(True, True)] * 2


def test_data_may_be_handed_out_again_instead_of_a_fetch(probe):
    iterator = iter(DataLoader(data.Rows(), batch_size=4))
    first = next(iterator)
    probe.events.repeats.append((first,))
    assert next(iterator) is first
    assert len(probe.events.given) == 1
    assert next(iterator)[1].tolist() == [4, 5, 6, 7]


def test_a_failing_event_never_reaches_the_loop_but_the_stop_does(probe, monkeypatch):
    monkeypatch.delenv("DEBUG_TRACER_STRICT")
    probe.events.fail = lambda: 1 / 0
    assert len(list(DataLoader(data.Rows(), batch_size=30))) == 2

    def stop():
        raise StoppedByTracer

    probe.events.fail = stop
    with pytest.raises(StoppedByTracer):
        list(DataLoader(data.Rows(), batch_size=30))


def test_an_iterator_class_of_the_user_with_its_own_next_index_works(probe):
    class Reversed(_SingleProcessDataLoaderIter):
        def _next_index(self):
            return super()._next_index()[::-1]

    class Mine(DataLoader):
        def _get_iterator(self):
            return Reversed(self)

    for x, y in Mine(data.Rows(), batch_size=4):
        assert len(x)
        assert probe.log.last().indices == tuple(y.tolist())
    assert tuple(y.tolist()) == (42, 41, 40)
    probe.remove()
    assert not hasattr(Reversed._next_index, "__wrapped__")


def test_iterators_and_loaders_are_not_kept_alive(probe):
    loader = DataLoader(data.Rows(), batch_size=4)
    iterator = iter(loader)
    next(iterator)
    gone = [weakref.ref(loader), weakref.ref(iterator)]
    del loader, iterator
    probe.events.epochs.clear()
    probe.events.given.clear()
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert probe.log.facts(probe.log.last()).dataset_len is None


def test_a_background_thread_may_fetch(probe):
    loader, seen = DataLoader(data.Rows(), batch_size=4), []
    thread = threading.Thread(
        target=lambda: seen.extend(probe.log.find(x)[0].indices == tuple(y.tolist()) for x, y in loader)
    )
    thread.start()
    thread.join()
    assert len(seen) == 11
    assert all(seen)


def test_the_same_batches_come_with_and_without_the_probe():
    def epoch():
        torch.manual_seed(5)
        return [
            y.tolist() for _, y in DataLoader(data.Rows(), batch_size=4, shuffle=True)
        ], torch.get_rng_state().tolist()

    bare = epoch()
    probe = a_probe()
    probe.install()
    try:
        assert epoch() == bare
    finally:
        probe.remove()


class Heard(LoopEvents):
    """Root calls as they are told."""

    def __init__(self):
        self.roots = []

    def entered(self, module, args):
        self.roots.append(type(module).__name__)


class Centred(torch.nn.Module):
    """A transform as libraries write it."""

    def forward(self, x):
        return x - x.mean()


class Transformed(data.Rows):
    def __init__(self, fails=False):
        super().__init__()
        self.transform, self.fails = Centred(), fails

    def __getitem__(self, index):
        if self.fails:
            raise OSError("the file is gone")
        return self.transform(super().__getitem__(index)[0])


@pytest.fixture
def heard():
    """A loader hook and a hook of modules with one state, and what they tell."""
    events, state, thread = Heard(), RunState(), TrainingThread()
    loader = LoaderHook(events, BatchLog(), ModeStack(), state, thread, None, None)
    modules = ModuleHook(events, thread, state.open_root)
    for hook in (loader, modules):
        hook.install()
    yield events.roots, state.open_root, loader
    for hook in (modules, loader):
        hook.remove()


@pytest.mark.parametrize("rests", [False, True])
def test_a_transform_that_is_a_module_is_no_root_call_and_the_model_behind_it_is(heard, rests, monkeypatch):
    roots, _, loader = heard
    monkeypatch.setattr(Heard, "rests", lambda self: rests, raising=False)
    model = torch.nn.Linear(3, 1)
    for batch in DataLoader(Transformed(), batch_size=8):
        model(batch)
    assert roots == ["Linear"] * 6 and loader.log.last() is not None


@pytest.mark.parametrize("rests", [False, True])
def test_a_loader_inside_a_dataset_hides_no_less_of_the_fetch_around_it(heard, rests, monkeypatch):
    roots, root, _ = heard
    monkeypatch.setattr(Heard, "rests", lambda self: rests, raising=False)

    class Outer(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from map(Centred(), DataLoader(torch.randn(6, 3), batch_size=2))

    model = torch.nn.Linear(3, 1)
    for batch in DataLoader(Outer(), batch_size=None):
        model(batch)
    assert roots == ["Linear"] * 3 and root.module is None


def test_a_fetch_of_another_thread_ends_none_of_the_training_thread(heard):
    roots, root, loader = heard
    loader.thread.here()

    class Waits(data.Rows):
        def __getitem__(self, index):
            worker = threading.Thread(target=lambda: next(iter(DataLoader(data.Rows(), batch_size=2))))
            worker.start()
            worker.join()
            return Centred()(super().__getitem__(index)[0])

    next(iter(DataLoader(Waits(), batch_size=2)))
    assert roots == [] and root.module is None


def test_a_fetch_that_raises_leaves_root_calls_as_they_were(heard):
    roots, root, _ = heard
    with pytest.raises(OSError, match="the file is gone"):
        next(iter(DataLoader(Transformed(fails=True), batch_size=8)))
    assert root.module is None
    Centred()(torch.ones(3))
    assert roots == ["Centred"]


def test_a_fetch_of_another_thread_hides_no_root_call_of_the_training_thread(heard):
    _, root, loader = heard
    loader.thread.here()
    open_during = []

    class Looks(data.Rows):
        def __getitem__(self, index):
            open_during.append(root.module)
            return super().__getitem__(index)

    worker = threading.Thread(target=lambda: next(iter(DataLoader(Looks(), batch_size=2))))
    worker.start()
    worker.join()
    assert open_during == [None, None]
