"""Windows that an evaluation shares with training, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from debugtracer.observers.loaders.row_windows import LONGEST, hashed, laid_out
from debugtracer.trace.facts.epochs import Overlap
from tests.observers.observing import observed

LENGTH, FUTURE = 24, 12


def series(count: int = 300) -> Tensor:
    return torch.randn(count, generator=torch.Generator().manual_seed(3)).cumsum(0)


def windows(values: Tensor, stride: int = 1) -> TensorDataset:
    cut = values.unfold(0, LENGTH + FUTURE, stride)
    return TensorDataset(cut[..., :LENGTH], cut[..., LENGTH:])


def shared(out: Path, train: object, held: object, before: bool = False) -> list[tuple[int, int, int]]:
    """What a forecast that is trained on one data set and evaluated on another one shares."""

    def loop() -> None:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Flatten(), nn.Linear(train[0][0].numel(), FUTURE))  # type: ignore[index]
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        fit, check = DataLoader(train, 16, shuffle=True), DataLoader(held, 16)  # type: ignore[arg-type]
        for evaluates in (True, False) if before else (False, True):
            for x, y, *_ in check if evaluates else fit:
                with torch.set_grad_enabled(not evaluates):
                    loss = (model(x) - y.reshape(len(y), -1)[:, :FUTURE]).square().mean()
                if not evaluates:
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()

    return [(f.shared, f.rows, f.same) for f in observed(out, loop, Overlap) if f.how == "windows"]


def split(data: TensorDataset, order: Callable[[int], list[int]], gap: int = 0) -> tuple[Subset, Subset]:
    rows = order(len(data))
    held = len(rows) // 5
    return Subset(data, rows[: len(rows) - held - gap]), Subset(data, rows[-held:])


def at_random(count: int) -> list[int]:
    return torch.randperm(count, generator=torch.Generator().manual_seed(1)).tolist()


def in_time(count: int) -> list[int]:
    return list(range(count))


def test_windows_that_are_split_at_random(tmp_path: Path):
    ((found, rows, same),) = shared(tmp_path / "runs", *split(windows(series()), at_random))
    assert (rows, same) == (53, 0)
    assert found >= 45


def test_with_several_values_a_place(tmp_path: Path):
    cut = torch.stack([series() + n for n in range(3)]).unfold(1, LENGTH + FUTURE, 1)
    cut = cut.permute(1, 2, 0)
    data = TensorDataset(cut[:, :LENGTH], cut[:, LENGTH:])
    assert shared(tmp_path / "runs", *split(data, at_random))[0][0] >= 45


@pytest.mark.parametrize("gap", [0, LENGTH + FUTURE])
def test_a_split_in_time_is_none(tmp_path: Path, gap: int):
    told = shared(tmp_path / "runs", *split(windows(series()), in_time, gap))
    assert sum(found for found, _, _ in told) == 0


def test_the_last_windows_of_series_that_are_held_back_are_none(tmp_path: Path):
    parts = [series(90) + n for n in range(12)]
    fit = [windows(values[:-FUTURE]).tensors for values in parts]
    held = [windows(values[-LENGTH - FUTURE :]).tensors for values in parts]
    joined = [TensorDataset(*map(torch.cat, zip(*some, strict=True))) for some in (fit, held)]
    assert shared(tmp_path / "runs", *joined) == []


def test_windows_that_do_not_overlap_are_none(tmp_path: Path):
    assert shared(tmp_path / "runs", *split(windows(series(3000), LENGTH + FUTURE), at_random)) == []


def test_the_training_windows_themselves_are_counted_as_such(tmp_path: Path):
    data = windows(series())
    told = shared(tmp_path / "runs", data, data)
    assert all(same >= 0.9 * rows for _, rows, same in told)


def test_an_evaluation_before_training_is_none(tmp_path: Path):
    assert shared(tmp_path / "runs", *split(windows(series()), at_random), before=True) == []


@pytest.mark.parametrize(
    "values",
    [
        torch.zeros(300),
        (torch.arange(300) % 2).float(),
        (torch.arange(300) % 10).float().sin(),
        torch.arange(300).div(100, rounding_mode="floor").float(),
    ],
)
def test_data_that_repeat_are_none(tmp_path: Path, values: Tensor):
    assert shared(tmp_path / "runs", *split(windows(values), at_random)) == []


def test_calendars_and_paddings_neither_tell_nor_speak_against_it(tmp_path: Path):
    data = windows(series())
    hour = (torch.arange(300.0) % 24).unfold(0, LENGTH, 1)[: len(data)]
    x, y = data.tensors
    empty = torch.zeros(len(data), 20)
    ((found, rows, _),) = shared(tmp_path / "runs", *split(TensorDataset(x, y, hour, empty), at_random))
    assert found >= 45
    assert rows == 53


def test_what_holds_no_series():
    assert laid_out(torch.randn(4, 8)) is None
    assert laid_out(torch.randn(4, LONGEST + 1)) is None
    assert laid_out(torch.randn(4, 3, 20, 20)) is None
    assert laid_out(torch.arange(40).reshape(2, 20)) is None
    channels_first = laid_out(torch.randn(4, 3, 20))
    assert channels_first is not None
    assert hashed(channels_first).shape == (4, 20)
