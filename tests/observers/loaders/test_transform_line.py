"""Which line of a transform wrote a part of a sample."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor
from torch.utils.data import Dataset, Subset

from debugtracer.observers.loaders.transform_line import transform_line, transform_links
from debugtracer.trace.birth import Frame

HERE = Path(__file__).resolve()


class Flip:
    """Flips the first of two."""

    def __call__(self, image: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        if image.sum() > 0:
            image = image.flip(-1)  # the line
        return image, mask


class Data(Dataset[Any]):
    """With a transform."""

    def __init__(self) -> None:
        self.transform = Flip()


def test_the_line_inside_the_transform():
    called = Frame(str(HERE), 1, "__getitem__", "image, mask = self.transform(image, mask)")
    found = transform_line(Subset(Data(), [0]), called, "batch[0]")
    assert found is not None
    assert "# the line" in HERE.read_text().splitlines()[found.line - 1]


class Brighten:
    """Writes the first of two."""

    def __call__(self, image: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        image = image * 2  # the last line
        return image, mask


class Both:
    """Calls one after the other."""

    def __init__(self, *parts: Any) -> None:
        self.transforms = list(parts)

    def __call__(self, *pair: Tensor) -> tuple[Tensor, ...]:
        for part in self.transforms:
            pair = part(*pair)
        return pair


def test_the_lines_inside_the_transforms_of_a_list():
    data = Data()
    data.transform = Both(Flip(), Brighten())  # type: ignore[assignment]
    called = Frame(str(HERE), 1, "__getitem__", "image, mask = self.transform(image, mask)")
    found = [link.frame.code.partition("  # ")[2] for link in transform_links(data, called, "batch[0]")]
    assert [one for one in found if one] == ["the last line", "the line"]


def test_another_call_or_no_line_is_left_as_it_is():
    called = Frame(str(HERE), 1, "__getitem__", "image = image.flip(-1)")
    assert transform_line(Data(), called, "batch[0]") is called
    assert transform_line(Data(), None, "batch[0]") is None
    assert transform_links(Data(), called, "batch[0]") == ()
