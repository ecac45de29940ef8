"""The objects of a program that has just begun get their saved values, and its loaders their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from debugtracer.errors import ResumeRefused
from debugtracer.recorder.output.background import Background
from debugtracer.trace.events import Found, Noted, Observed
from debugtracer.trace.store.reader import open_trace
from debugtracer.trace.store.saved_state import RESUMED, UNREACHED, newest
from tests.responses.loops import a_model
from tests.watching import events, same_bits, under_watch


class Stream(IterableDataset[Tensor]):
    """Samples without a length."""

    def __iter__(self) -> Iterator[Tensor]:
        for number in range(24):
            yield torch.full((4,), number / 24) + torch.randn(4)


def of_tensors(**words: Any) -> DataLoader[Any]:
    made = torch.Generator().manual_seed(5)
    return DataLoader(TensorDataset(torch.randn(24, 4, generator=made)), batch_size=4, shuffle=True, **words)


def own_generator() -> DataLoader[Any]:
    return of_tensors(generator=torch.Generator().manual_seed(9))


def stream() -> DataLoader[Any]:
    return DataLoader(Stream(), batch_size=4)


LOADERS = {"shuffled": of_tensors, "a generator of its own": own_generator, "a stream": stream}


class Cut(Exception):
    """The program dies here."""


def train(
    make: Any, ends: int = -1, accumulate: int = 1, model: nn.Module | None = None, passes: int = 3
) -> list[Tensor]:
    """Some passes, cut after so many batches; the state that is left."""
    model = model or a_model()
    torch.manual_seed(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader, seen = make(), 0
    for _ in range(passes):
        for number, batch in enumerate(loader):
            x = batch[0] if isinstance(batch, list) else batch
            (model(x) - x.sum(1, keepdim=True)).square().mean().backward()
            seen += 1
            if number % accumulate == accumulate - 1:
                optimizer.step()
                optimizer.zero_grad()
            if seen == ends:
                raise Cut
    return [t.detach().clone() for t in (*model.parameters(), *model.buffers())]


def train_twins(ends: int = -1) -> list[Tensor]:
    """Two models of one shape, which go apart."""
    twins = a_model(), a_model()
    torch.manual_seed(1)
    optimizer = torch.optim.SGD([weight for model in twins for weight in model.parameters()], lr=0.05, momentum=0.9)
    seen = 0
    for _ in range(3):
        for (x,) in of_tensors():
            aims = x.sum(1, keepdim=True), -x.sum(1, keepdim=True)
            sum((model(x) - aim).square().mean() for model, aim in zip(twins, aims, strict=True)).backward()
            seen += 1
            optimizer.step()
            optimizer.zero_grad()
            if seen == ends:
                raise Cut
    return [t.detach().clone() for model in twins for t in model.parameters()]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """States are written where they are taken: a cut run has the newest."""
    monkeypatch.setattr(Background, "start", Background.run)


def resumed(out: Path, make: Any, **words: Any) -> list[Tensor]:
    """Cut a run in its second pass, and go on in another one."""
    with under_watch(out / "a", "prod", last_good_s=1e-6, cost=1.0), pytest.raises(Cut):
        train(make, ends=11, **words)
    run = open_trace(out / "a").path
    step = newest(run)[0]
    assert step >= 4
    with under_watch(out / "b", "prod", resume=run / "last-good", resume_step=step):
        return train(make, **words)


@pytest.mark.parametrize("name", LOADERS)
def test_the_end_is_that_of_an_uninterrupted_run(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    left = resumed(tmp_path, LOADERS[name])
    assert all(same_bits(a, b) for a, b in zip(left, train(LOADERS[name]), strict=True))
    assert "resumed from" in capfd.readouterr().err


def test_gradients_of_a_pass_that_was_over_are_dropped(tmp_path: Path) -> None:
    left = resumed(tmp_path, of_tensors, accumulate=2)
    assert all(same_bits(a, b) for a, b in zip(left, train(of_tensors, accumulate=2), strict=True))


def test_of_two_models_of_one_shape_each_gets_its_own_weights(tmp_path: Path) -> None:
    with under_watch(tmp_path / "a", "prod", last_good_s=1e-6, cost=1.0), pytest.raises(Cut):
        train_twins(ends=11)
    run = open_trace(tmp_path / "a").path
    with under_watch(tmp_path / "b", "prod", resume=run / "last-good", resume_step=newest(run)[0]):
        left = train_twins()
    assert all(same_bits(a, b) for a, b in zip(left, train_twins(), strict=True))


def test_a_state_that_was_put_back_is_no_update_that_was_undone(tmp_path: Path) -> None:
    """Each pass that was over is given one batch, whose update is taken back: four of them in a row, by us."""
    with under_watch(tmp_path / "a", "prod", last_good_s=1e-6, cost=1.0), pytest.raises(Cut):
        train(of_tensors, ends=29, passes=6)
    run = open_trace(tmp_path / "a").path
    step = newest(run)[0]
    assert step >= 24
    with under_watch(tmp_path / "b", "prod", resume=run / "last-good", resume_step=step):
        left = train(of_tensors, passes=6)
    assert all(same_bits(a, b) for a, b in zip(left, train(of_tensors, passes=6), strict=True))
    told = events(tmp_path / "b")
    assert [e.fact for e in told if isinstance(e, Observed) and e.fact.get("back")] == []
    assert [e.finding.check for e in told if isinstance(e, Found) and e.finding.severity != "note"] == []


def test_another_model_is_refused_before_its_first_update(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with under_watch(tmp_path / "a", "prod", last_good_s=1e-6, cost=1.0):
        train(of_tensors)
    run = open_trace(tmp_path / "a").path
    other = nn.Sequential(nn.Linear(4, 1))
    before = other[0].weight.detach().clone()
    with (
        under_watch(tmp_path / "b", "prod", resume=run / "last-good", resume_step=newest(run)[0]),
        pytest.raises(ResumeRefused),
    ):
        train(of_tensors, model=other)
    assert same_bits(before, other[0].weight)
    assert "no model of the program has the names and shapes" in capfd.readouterr().err


def test_a_loop_without_that_loader_is_told_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with under_watch(tmp_path / "a", "prod", last_good_s=1e-6, cost=1.0):
        train(of_tensors)
    run = open_trace(tmp_path / "a").path
    with under_watch(tmp_path / "b", "observe", resume=run / "last-good", resume_step=newest(run)[0]):
        train(stream)
    assert "the place in the data: no loader is that over TensorDataset of 24 samples" in capfd.readouterr().err


def test_a_program_that_ends_before_the_saved_place_is_told_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with under_watch(tmp_path / "a", "prod", last_good_s=1e-6, cost=1.0), pytest.raises(Cut):
        train(of_tensors, ends=16)
    run = open_trace(tmp_path / "a").path
    with under_watch(tmp_path / "b", "prod", resume=run / "last-good", resume_step=newest(run)[0]):
        train(of_tensors, passes=2)
    told = capfd.readouterr().err
    assert "the program ended after 2 passes over its data" in told and "(pass 3, batch 3 of the loader" in told
    assert "nothing was trained" in told and "put back: 1 model(s)" not in told
    noted = [e.what for e in events(tmp_path / "b") if isinstance(e, Noted)]
    assert UNREACHED in noted and RESUMED not in noted
