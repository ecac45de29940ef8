"""What is learnt of a loader, and which loaders are the same one."""

from __future__ import annotations

import gc
import weakref

import torch
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from debugtracer.observers.data.baseline import Baseline
from debugtracer.observers.data.schemas import SchemaChange
from debugtracer.observers.loaders.loader_history import REMEMBERED, LoaderHistories, LoaderHistory, note_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.crash import FormSeen


def a_loader(**more):
    return DataLoader(TensorDataset(torch.arange(10.0)), batch_size=4, **more)


def info_of(loader, line=7):
    return LoaderInfo(
        loader=weakref.ref(loader),
        dataset="TensorDataset",
        batch_size=4,
        num_workers=0,
        sampler="SequentialSampler",
        frame=Frame("/p/train.py", line),
        data=weakref.ref(loader.dataset),
    )


def test_a_loader_built_anew_at_its_line_goes_on():
    courses, first = LoaderHistories(), a_loader()
    course = courses.of(info_of(first))
    course.seen = 9
    del first
    gc.collect()
    again = a_loader()
    assert courses.of(info_of(again)) is course


def test_one_line_that_reads_one_set_after_the_other_makes_two_loaders():
    """An evaluation function called with the training set, then with the test set."""
    courses, train, test = LoaderHistories(), TensorDataset(torch.arange(10.0)), TensorDataset(torch.arange(4.0))
    first = courses.of(info_of(DataLoader(train)))
    gc.collect()
    second = courses.of(info_of(DataLoader(test)))
    gc.collect()
    assert second is not first
    assert courses.of(info_of(DataLoader(train))) is first
    gc.collect()
    assert courses.of(info_of(DataLoader(test))) is second


def test_two_loaders_of_one_line_that_live_together_are_two():
    courses, train, valid = LoaderHistories(), a_loader(), a_loader()
    one, other = info_of(train), info_of(valid)
    assert courses.of(one) is not courses.of(other)
    assert courses.of(one) is courses.of(one)
    assert courses.of(other) is courses.of(other)
    assert [c.note.number for c in courses.known.values()] == [0, 1]


def test_the_note_says_what_the_loader_is():
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(())

    loader = a_loader()
    note = note_of(info_of(loader), 0)
    assert (note.dataset_len, note.batches, note.stream, note.frame.line) == (10, 3, False, 7)
    stream = DataLoader(Stream())
    note = note_of(info_of(stream), 1)
    assert (note.batches, note.stream) == (None, True)


def test_a_batch_is_known_again_within_its_epoch_only():
    loader = a_loader()
    course = LoaderHistory(info_of(loader), note_of(info_of(loader), 0))
    assert course.remember(5, 0, (1, 2)) is None
    assert course.remember(5, 3, (4, 2)) == (0, (1, 2))
    course.begin_epoch()
    assert course.remember(5, 0, (1, 2)) is None
    for n in range(REMEMBERED + 50):
        course.remember(1000 + n, n, None)
    assert len(course.contents) == REMEMBERED


def test_usual_rows_are_a_median():
    loader = a_loader()
    course = LoaderHistory(info_of(loader), note_of(info_of(loader), 0))
    assert course.usual_rows() == 0
    course.rows.extend([16, 16, 3])
    assert course.usual_rows() == 16


def test_rows_that_vary_are_not_alike():
    loader = a_loader()
    course = LoaderHistory(info_of(loader), note_of(info_of(loader), 0))
    course.rows.extend([16, 16, 3, 16, 15])
    assert course.rows_alike()
    course.rows.extend([9, 31, 22, 40, 11])
    assert not course.rows_alike()


def test_an_evaluating_loader_knows_where_its_transform_was_made(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        "shrink = Compose([half])\nheld = TensorDataset(rows, transform=shrink)\n"
        "check = DataLoader(held)\nbare = DataLoader(rows)\n"
    )
    loader = a_loader()

    def line(at, **known):
        info = info_of(loader)
        info.frame = Frame(str(file), at, "<module>", file.read_text().splitlines()[at - 1])
        history = LoaderHistory(info, note_of(info, 0), **known)
        return getattr(history.described().transform_at, "line", None)

    assert line(3, evaluated="batch[0]") == 1
    assert (line(4, evaluated="batch[0]"), line(3), line(3, evaluated="batch[0]", training=True)) == (None, None, None)


def a_batch(loader, rows):
    return Batch(info_of(loader), None, 0, 0.0, [], rows)


def test_a_tensor_with_time_first_is_turned_also_where_it_has_as_many_steps_as_samples():
    loader = a_loader()
    course, square = LoaderHistory(info_of(loader), note_of(info_of(loader), 0)), torch.arange(16).reshape(4, 4)
    assert torch.equal(course.by_samples(square, a_batch(loader, 4)), square)
    assert course.by_samples(torch.zeros(9, 4), a_batch(loader, 4)).shape == (4, 9)
    assert torch.equal(course.by_samples(square, a_batch(loader, 4)), square.t())
    assert course.by_samples(torch.zeros(4), a_batch(loader, 4)).shape == (4,)


def test_another_width_of_ids_that_are_padded_to_the_longest_is_a_length():
    loader = a_loader()
    course = LoaderHistory(info_of(loader), note_of(info_of(loader), 0))
    change = SchemaChange("batch[0]", "1", "(*, 11)", "(*, 10)", 111)
    assert not course.is_length(change)
    known = course.baselines["batch[0]"] = Baseline("ids")
    known.learn_padding(torch.tensor([7, 11]), 11, 0)
    assert course.is_length(change)
    assert not course.is_length(change._replace(what="rank"))
    known.learn_padding(torch.tensor([7, 9]), 11, 0)  # padded to a fixed width, which has changed
    assert not course.is_length(change)


KEPT = """\
class Frames:
    def __getitem__(self, at):
        frames = self.parts[at]
        scale = 255.0
        return torch.from_numpy(frames / scale).float()
"""


def test_a_far_record_of_another_dtype_is_looked_for_once_and_its_scale_is_the_line(tmp_path):
    file = tmp_path / "frames.py"
    file.write_text(KEPT)
    held = a_loader()
    history, asked = LoaderHistory(info_of(held), note_of(info_of(held), 0)), []
    batch = Batch(loader=info_of(held), indices=(4, 7), number=3, wait_s=0.0, leaves=[], rows=2)

    def odd_form(info, indices, healthy, made):
        asked.append((indices, made))
        assert 7 not in healthy
        read = Frame(str(file), 3, "__getitem__")
        return FormSeen(index=7, frame=read, name="frames", seen="dtype uint16", usual="dtype uint8", beside=6)

    assert history.kept_as(batch, (1,), 5.0, odd_form) == ""
    assert history.kept_as(batch, (1,), 0.0, odd_form) == ""
    assert asked == []
    assert history.kept_as(batch, (1,), 250.0, odd_form) == "sample 7 is kept as uint16, 6 others as uint8"
    assert history.kept_as(batch, (1,), 250.0, odd_form) == "sample 7 is kept as uint16, 6 others as uint8"
    assert asked == [((7,), True)]
    assert [frame.line for frame in history.made_odd(batch, "batch[0]", "range", (1,), None)] == [4, 3]


def test_a_far_record_of_the_same_dtype_or_of_another_shape_is_kept_alike():
    held = a_loader()
    batch = Batch(loader=info_of(held), indices=(4, 7), number=3, wait_s=0.0, leaves=[], rows=2)
    at = Frame("/p/frames.py", 3)
    for found in (None, FormSeen(index=7), FormSeen(index=7, frame=at, seen="dimension 0 of size 3", usual="x")):
        history = LoaderHistory(info_of(held), note_of(info_of(held), 0))
        assert history.kept_as(batch, (1,), 250.0, lambda *asked, found=found: found) == ""
