"""Targets that the loop or a dataset has resized, in real sessions."""

from __future__ import annotations

import numpy
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from debugtracer import session
from debugtracer.observers.loaders.resized_labels import SAMPLES
from debugtracer.trace.facts.resized_labels import ResizedLabels
from tests.observers.loaders.test_label_resizing import a_map, smooth
from tests.observers.told import facts, findings
from tests.watching import under_watch

CLASSES, SIZE = 5, 33


@pytest.fixture(autouse=True)
def _left_alone():
    yield
    session.stop()


class Maps(Dataset):
    """Pictures with a map of class ids, resized in the dataset by a way of its own."""

    def __init__(self, resize, high=4):
        self.resize, self.maps = resize, [a_map(high=high).roll(n, 1) for n in range(12)]

    def __len__(self):
        return len(self.maps)

    def __getitem__(self, index):
        return torch.randn(3, SIZE, SIZE), self.resize(self.maps[index]) if self.resize else self.maps[index].long()


def train(out, maps, in_loop=None, loss=None, workers=0):
    torch.manual_seed(0)
    model = nn.Conv2d(3, CLASSES, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for x, y in DataLoader(maps, 4, num_workers=workers):
            target = in_loop(y) if in_loop else y
            optimizer.zero_grad()
            (loss or F.cross_entropy)(model(x), target).backward()
            optimizer.step()
    return facts(out, ResizedLabels), findings(out, "labels-interpolated")


def bilinear(ids):
    return smooth(ids)[0, 0].long()


def nearest(ids):
    return F.interpolate(ids[None, None], size=SIZE, mode="nearest")[0, 0].long()


def by_class(ids):
    parts = F.one_hot(ids.long(), CLASSES).movedim(-1, 0).float()
    return F.interpolate(parts[None], size=SIZE, mode="bilinear")[0].argmax(0)


@pytest.mark.parametrize("workers", [0, 1])
def test_ids_that_a_dataset_weighs_are_told(tmp_path, workers):
    found, said = train(tmp_path, Maps(bilinear), workers=workers)
    assert {(f.function, f.mode, f.samples) for f in found} == {("interpolate", "bilinear", (0, 1, 2, 3))}
    assert found[0].frame.function == "smooth"
    assert [f.severity for f in said] == ["warning"]


def test_masks_that_pil_weighs_are_told(tmp_path):
    def picture(ids):
        made = Image.fromarray(ids.numpy().astype("uint8")).resize((SIZE, SIZE))
        return torch.from_numpy(numpy.array(made)).long()

    found, said = train(tmp_path, Maps(picture))
    assert {(f.function, f.mode) for f in found} == {("Image.resize", "the default")}
    assert len(said) == 1


def test_ids_that_the_loop_weighs_are_told(tmp_path):
    def resized(y):
        return F.interpolate(y[:, None].float(), size=SIZE, mode="bilinear")[:, 0].long()

    found, said = train(tmp_path, Maps(None), resized)
    assert {(f.function, f.samples, f.loss) for f in found} == {("interpolate", (), "cross_entropy")}
    assert len(said) == 1


@pytest.mark.parametrize("resize", [nearest, by_class])
def test_ids_that_were_there_are_silent_and_nothing_is_fetched_again(tmp_path, resize):
    asked = []
    assert train(tmp_path, Maps(lambda ids: asked.append(0) or resize(ids))) == ([], [])
    assert len(asked) < 12 + SAMPLES


def test_two_classes_are_silent(tmp_path):
    assert train(tmp_path, Maps(bilinear, high=1)) == ([], [])


def test_a_target_of_numbers_is_silent(tmp_path):
    def numbers(scores, target):
        return F.mse_loss(scores[:, 0], target)

    def resized(y):
        return F.interpolate(y[:, None].float(), size=SIZE, mode="bilinear")[:, 0]

    assert train(tmp_path, Maps(None), resized, numbers) == ([], [])


def test_the_maps_of_a_step_are_forgotten_when_steps_were_missed(tmp_path):
    with under_watch(tmp_path) as watched:
        observer = watched.dispatcher.observers["resized-labels"]
        smooth(a_map())
        assert observer.seen
        watched.dispatcher.missed()
        assert not observer.seen
