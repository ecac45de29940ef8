"""What is out of the ordinary in one batch."""

from __future__ import annotations

import weakref
from dataclasses import replace

import msgspec
import torch
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.observers.data.baseline import Baseline
from debugtracer.observers.data.batch_anomalies import of_batch, of_floats, of_integers, of_masks, of_texts
from debugtracer.observers.data.tensor_summary import look_at
from debugtracer.observers.loaders.loader_history import LoaderHistory, note_of
from debugtracer.recorder.tape.batches import Batch, LoaderInfo

LOADER = DataLoader(TensorDataset(torch.zeros(400, 3)), batch_size=8)
INFO = LoaderInfo(
    loader=weakref.ref(LOADER), dataset="TensorDataset", batch_size=8, num_workers=0, sampler="SequentialSampler"
)


def a_course():
    return LoaderHistory(INFO, note_of(INFO, 0))


def a_batch(number=0, rows=8, indices=None):
    return Batch(loader=INFO, indices=indices, number=number, wait_s=0.0, leaves=[], rows=rows)


def noise(n, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(n))


def compared(tensors, role):
    """The oddities of each tensor in order, learnt as the taker does."""
    course, habit, found = a_course(), Baseline(role), []
    for n, leaf in enumerate(tensors):
        look = look_at(leaf)
        some = list(
            (of_floats if role == "float" else of_integers)(
                course, habit, "batch[0]", leaf, look, a_batch(n, leaf.shape[0])
            )
        )
        habit.learn(look, any(one.what in ("content", "range") for one in some))
        found.append(some)
    return found


def kinds(found):
    return [sorted({one.what for one in some}) for some in found]


def test_nan_names_its_rows_and_an_additive_mask_is_silent():
    x, mask = torch.zeros(8, 3), torch.zeros(8, 3)
    x[5, 1], mask[5, 1] = float("nan"), float("-inf")
    (one,) = compared([x], "float")[0]
    assert (one.what, one.rows, one.count, one.of) == ("nonfinite", (5,), 1, 24)
    assert compared([mask], "float") == [[]]


def test_a_value_far_out_names_its_row_and_the_batch_after_is_ordinary():
    bad = noise(60, 8, 4)
    bad[3, 2] = 500.0
    found = compared([*[noise(n, 8, 4) for n in range(60)], bad, noise(61, 8, 4)], "float")
    assert [k for k in kinds(found[:60]) if k] == []
    assert [(one.rows, one.value) for one in found[60] if one.what == "range"] == [((3,), 500.0)]
    assert found[61] == []


def test_heavy_tails_are_the_usual_of_heavy_tailed_data():
    tails = [torch.distributions.StudentT(2.0).sample((32, 4)) for _ in range(1)]
    g = torch.Generator().manual_seed(1)
    heavy = [torch.randn(32, 4, generator=g) / torch.rand(32, 4, generator=g).sqrt() for _ in range(200)]
    assert sum("range" in k for k in kinds(compared([*tails, *heavy], "float"))) <= 3


def test_a_blank_row_after_pictures_and_not_among_blank_rows():
    def pictures(n, blank):
        x = torch.rand(8, 1, 5, 5, generator=torch.Generator().manual_seed(n))
        x[2] = 0.0 if blank else x[2]
        return x

    found = compared([pictures(n, n == 30) for n in range(31)], "float")
    assert [(one.what, one.rows) for one in found[30]] == [("blank", (2,))]
    assert all(some == [] for some in compared([pictures(n, n % 7 == 3) for n in range(60)], "float"))


def test_a_picture_cut_off_after_whole_ones_and_not_among_framed_ones():
    def pictures(n, cut):
        x = torch.rand(8, 3, 16, 16, generator=torch.Generator().manual_seed(n))
        if cut:
            x[5, :, 12:] = torch.tensor([0.5, 0.4, 0.3])[:, None, None]
        return x

    def framed(n):
        x = pictures(n, n == 30)
        x[2, :, 15:] = 0.0
        return x

    found = compared([pictures(n, n == 30) for n in range(31)], "float")
    assert [(one.what, one.rows, one.value) for one in found[30]] == [("cut", (5,), 0.25)]
    assert all(some == [] for some in compared([framed(n) for n in range(60)], "float"))


def test_a_column_that_stops_is_named_with_its_value():
    def table(n):
        x = noise(n, 16, 4)
        x[:, 1] = 7.0 if n >= 55 else x[:, 1]
        return x

    found = compared([table(n) for n in range(56)], "float")
    assert [(one.what, one.channel, one.value) for one in found[55] if one.what == "constant"] == [("constant", 1, 7.0)]
    assert not any(found[:55])


def test_labels_that_are_all_ignored_after_others_that_were_not():
    labels = torch.tensor([0, 1, 2, 0, 1, -100, 2, 1])
    ignored = torch.full((8,), -100)
    assert kinds(compared([labels, ignored], "label")) == [[], ["ignored"]]
    assert kinds(compared([ignored, ignored], "label")) == [[], []]  # a column that is not used


def test_a_label_never_seen_is_told_with_its_rows():
    found = compared([*[torch.arange(8) % 4] * 60, torch.tensor([0, 1, 2, 3, 9, 0, 1, 9])], "label")
    assert [(one.what, one.value, one.usual, one.rows) for one in found[60]] == [("label", 9, 3, (4, 7))]
    assert not any(found[:60])


def test_the_last_of_many_ids_is_no_label_that_was_never_seen():
    order = torch.Generator().manual_seed(3)
    users = [torch.randint(0, 900, (8,), generator=order) for _ in range(100)]
    assert max(int(u.max()) for u in users[60:]) > max(int(u.max()) for u in users[:60])
    assert not any(compared(users, "label"))


def test_row_numbers_are_no_labels():
    assert not any(compared([torch.arange(8) + 1000 * n for n in range(80)], "label"))


def test_masks_beside_ids_show_empty_rows_and_padding_among_the_targets():
    ids = torch.randint(1, 50, (4, 10))
    mask = (torch.arange(10) < torch.tensor([3, 10, 0, 5])[:, None]).long()
    labels = ids * mask
    course = a_course()
    course.baselines["ids"] = Baseline("ids")
    leaves = [(name, t, look_at(t)) for name, t in (("ids", ids * mask), ("mask", mask), ("labels", labels))]
    found = {one.what: one for one in of_masks(leaves, course)}
    assert (found["empty"].rows, found["pad-labels"].path, found["pad-labels"].value) == ((2,), "labels", 0.55)
    ignoring = [
        (name, t, look_at(t))
        for name, t in (("ids", ids), ("mask", mask), ("labels", labels.masked_fill(mask == 0, -100)))
    ]
    assert [one.what for one in of_masks(ignoring, course)] == ["empty"]


def test_a_batch_that_comes_again_and_one_drawn_again():
    course, x = a_course(), look_at(noise(1, 8, 3))
    assert list(of_batch(course, a_batch(0, indices=(1, 2)), [x])) == []
    (one,) = of_batch(course, a_batch(4, indices=(3, 4)), [x])
    assert (one.what, one.value, one.count, one.detail) == ("duplicate", 0, 4, "other")
    assert [o.detail for o in of_batch(course, a_batch(5, indices=(3, 4)), [x])] == ["same"]


def test_an_epoch_of_few_batches_and_blank_batches_repeat_themselves():
    course, x = a_course(), look_at(noise(1, 8, 3))
    course.note = msgspec.structs.replace(course.note, batches=19)
    assert not [o for n in range(4) for o in of_batch(course, a_batch(n), [x])]
    assert not [o for n in range(4) for o in of_batch(a_course(), a_batch(n), [look_at(torch.zeros(8, 3))])]


def test_a_short_batch_in_the_middle_and_not_at_the_end():
    course = a_course()
    for n in range(6):
        assert not list(of_batch(course, a_batch(n, 8), []))
    assert [o.what for o in of_batch(course, a_batch(6, 3), [])] == ["short"]
    assert not list(of_batch(course, a_batch(49, 3), []))


def test_the_end_of_a_dataset_is_short_whatever_another_loader_of_the_line_has():
    """A function builds all loaders at one line: the note is that of the last."""
    loader = DataLoader(TensorDataset(torch.zeros(6 * 8 + 3, 1)), batch_size=8)
    course, info = a_course(), replace(INFO, loader=weakref.ref(loader))
    for n in range(6):
        assert not list(of_batch(course, replace(a_batch(n, 8), loader=info), []))
    assert not list(of_batch(course, replace(a_batch(6, 3), loader=info), []))
    assert [o.what for o in of_batch(course, replace(a_batch(4, 3), loader=info), [])] == ["short"]


def test_states_of_positions_come_in_runs_and_are_no_text():
    states = torch.randint(0, 3, (8, 64), generator=torch.Generator().manual_seed(0))
    states[2] = 1
    batch = Batch(loader=INFO, indices=None, number=0, wait_s=0.0, leaves=[("batch[0]", weakref.ref(states))], rows=8)
    found = of_integers(a_course(), Baseline("ids"), "batch[0]", states, replace(look_at(states), role="ids"), batch)
    assert not [one for one in found if one.what == "ngram"]


def test_a_label_that_masks_most_of_a_row_is_no_text():
    ids = torch.randint(1, 50, (8, 512), generator=torch.Generator().manual_seed(0))
    ids[2, :480] = -100
    batch = Batch(loader=INFO, indices=None, number=0, wait_s=0.0, leaves=[("batch[0]", weakref.ref(ids))], rows=8)
    found = of_integers(a_course(), Baseline("ids"), "batch[0]", ids, replace(look_at(ids), role="ids"), batch)
    assert not [one for one in found if one.what == "ngram"]


def test_texts_that_could_not_be_decoded():
    (one,) = of_texts({"text": ["fine", "br\ufffd\ufffdken"], "n": [1, 2]})
    assert (one.what, one.path, one.rows) == ("unreadable", "batch['text']", (1,))
    assert not list(of_texts(torch.zeros(3)))


def test_classes_of_points_are_no_text():
    """One class fills a row of labels beside floats of the same rows and points; the same ids alone are a text."""
    ids = torch.randint(1, 50, (8, 512), generator=torch.Generator().manual_seed(0))
    ids[2] = 7
    look, told = look_at(ids), {}
    for name, other in (("alone", ids), ("points", torch.zeros(8, 512, 3)), ("picture", torch.zeros(8, 3, 512))):
        leaves = [("batch[0]", weakref.ref(ids)), ("batch[1]", weakref.ref(other))]
        batch = Batch(loader=INFO, indices=None, number=0, wait_s=0.0, leaves=leaves, rows=8)
        found = of_integers(a_course(), Baseline("ids"), "batch[0]", ids, look, batch)
        told[name] = [one.rows for one in found if one.what == "ngram"]
    assert told == {"alone": [(2,)], "points": [], "picture": [(2,)]}


def test_the_rows_that_make_a_batch_unlike_all_are_told_where_the_others_are_like_all():
    tensors = [noise(n, 32, 3) for n in range(30)]
    tensors[5][3, 1] = -200.0  # learnt while little was known
    tensors[-1][[7, 20], 2] = -200.0
    (one,) = (one for one in compared(tensors, "float")[-1] if one.detail == "std")
    assert one.rows == (7, 20)


def test_of_a_batch_that_is_unlike_in_all_its_rows_all_are_told():
    tensors = [*(noise(n, 32, 3) for n in range(30)), 5 * noise(31, 32, 3)]
    assert {len(one.rows) for one in compared(tensors, "float")[-1] if one.what == "content"} == {32}
