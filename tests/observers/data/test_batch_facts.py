"""Batches of real loops under a real session: what is told, with which step and samples, and what healthy loops are
told of (nothing loud)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from debugtracer.observers.data.batch_facts import first_layer, spoiled
from debugtracer.observers.data.summary_budget import SummaryBudget
from debugtracer.trace.events import Found, Observed
from tests.watching import events, under_watch


def facts(out: Path, kind: str) -> list[dict]:
    return [e.fact for e in events(out) if isinstance(e, Observed) and e.word == f"batch-content/{kind}"]


def odd(out: Path, what: str) -> list[dict]:
    return [f for f in facts(out, "BatchOddity") if f["what"] == what]


def loud(out: Path) -> list[str]:
    return [
        e.finding.message
        for e in events(out)
        if isinstance(e, Found) and e.finding.check.startswith("data/") and e.finding.severity != "note"
    ]


def found(out: Path, check: str) -> list:
    return [e.finding for e in events(out) if isinstance(e, Found) and e.finding.check == check]


def loop(out: Path, model, loader, loss_of, epochs=1, lr=1e-2, **settings):
    """A plain loop under watch; the losses."""
    losses = []
    with under_watch(out, **settings):
        optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        for _ in range(epochs):
            for batch in loader:
                loss = loss_of(model, batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    return losses


def squared(model, batch):
    x, y = batch
    return (model(x).squeeze(-1) - y).pow(2).mean()


def crossed(model, batch):
    x, y = batch
    return nn.functional.cross_entropy(model(x), y)


def table(rows=640, columns=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, columns, generator=g)
    return x, x.sum(1) / columns


def net(columns=5, out=1):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(columns, 8), nn.Tanh(), nn.Linear(8, out))


def test_schema_and_profile_are_told_once_and_rarely(tmp_path):
    loader = DataLoader(TensorDataset(*table()), batch_size=4, shuffle=True)
    loop(tmp_path / "runs", net(), loader, squared)
    (schema,) = facts(tmp_path / "runs", "BatchSchema")
    assert [(leaf["path"], leaf["dtype"], leaf["shape"]) for leaf in schema["leaves"]] == [
        ("batch[0]", "float32", [4, 5]),
        ("batch[1]", "float32", [4]),
    ]
    assert schema["loader"]["batches"] == 160
    profiles = facts(tmp_path / "runs", "BatchProfile")
    assert [p["seen"] for p in profiles] == [1, 20, 100, 160]
    assert (profiles[0]["training"], profiles[0]["first_layer"], profiles[-1]["rows"]) == (True, "Linear", 4)
    assert facts(tmp_path / "runs", "BatchOddity") == []


def test_a_missing_value_is_told_with_step_row_sample_and_what_it_spoiled(tmp_path):
    x, y = table()
    x[135, 2] = math.nan
    loop(tmp_path / "runs", net(), DataLoader(TensorDataset(x, y), batch_size=16), squared)
    first = odd(tmp_path / "runs", "nonfinite")[0]
    assert (first["ref"]["iteration"], first["rows"], first["samples"], first["reached"], first["spoiled"]) == (
        8,
        [7],
        [135],
        "model",
        True,
    )
    assert first["module"] == "Sequential"
    (finding, *_) = found(tmp_path / "runs", "data/nonfinite-input")
    assert (finding.severity, finding.kind, finding.place.sample_index) == ("error", "data_nonfinite", (135,))


def test_a_missing_target_is_told_when_it_spoils_the_loss(tmp_path):
    x, y = table()
    y[100] = math.nan
    loop(tmp_path / "runs", net(), DataLoader(TensorDataset(x, y), batch_size=16), squared)
    first = odd(tmp_path / "runs", "nonfinite")[0]
    assert (first["path"], first["reached"], first["spoiled"], first["samples"]) == ("batch[1]", "loss", True, [100])


class Masking(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 1)

    def forward(self, x):
        return self.body(torch.where(x.isnan(), 0.0, x))


def test_a_marker_that_the_model_masks_is_a_note(tmp_path):
    x, y = table()
    x[::7, 2] = math.nan
    losses = loop(tmp_path / "runs", Masking(), DataLoader(TensorDataset(x, y.nan_to_num()), batch_size=16), squared)
    assert all(map(math.isfinite, losses))
    assert odd(tmp_path / "runs", "nonfinite")[0]["reached"] == "model"
    assert loud(tmp_path / "runs") == []


def test_a_marker_that_is_filled_before_the_model_is_a_note(tmp_path):
    x, y = table()
    x[::7, 2] = math.nan
    loader = DataLoader(TensorDataset(x, y.nan_to_num()), batch_size=16)
    loop(tmp_path / "runs", net(), loader, lambda model, batch: squared(model, (batch[0].nan_to_num(), batch[1])))
    assert odd(tmp_path / "runs", "nonfinite")[0]["reached"] == ""
    assert loud(tmp_path / "runs") == []


def test_the_guilty_sample_is_fetched_again_unless_that_is_switched_off(tmp_path):
    class Rows(Dataset):
        def __init__(self):
            self.x, self.y = table()
            self.transform = lambda x: x / x.abs().sum()
            self.x[50] = 0.0

        def __len__(self):
            return len(self.x)

        def __getitem__(self, i):
            return self.transform(self.x[i]), self.y[i]

    for switch, count in (("on", 1), ("off", 0)):
        loop(tmp_path / switch, net(), DataLoader(Rows(), batch_size=16), squared, function_tests=switch)
        again = [
            e.fact for e in events(tmp_path / switch) if isinstance(e, Observed) and e.word == "refetched/Refetched"
        ]
        assert [(f["index"], f["origin"]) for f in again[:1]] == [(50, "operation")] * count


def test_the_run_is_bitwise_the_same_with_and_without_us(tmp_path):
    class Noisy(Dataset):
        def __len__(self):
            return 320

        def __getitem__(self, i):
            x = torch.randn(20)
            return (torch.zeros(20) if i == 270 else x), x.sum()

    def losses(watch):
        torch.manual_seed(5)
        model, loader = net(20), DataLoader(Noisy(), batch_size=8, shuffle=True)
        if watch:
            return loop(tmp_path / "runs", model, loader, squared)
        optimizer, got = torch.optim.SGD(model.parameters(), lr=1e-2), []
        for batch in loader:
            loss = squared(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            got.append(loss.item())
        return got

    assert losses(True) == losses(False)
    assert odd(tmp_path / "runs", "blank")


def test_validation_batches_are_told_as_such(tmp_path):
    x, y = table()
    bad = x.clone()
    bad[3, 1] = math.inf
    model = net()

    def with_validation(model, batch):
        if validation:
            with torch.no_grad():
                for vx, _ in validation.pop():
                    model(vx)
        return squared(model, batch)

    validation = [DataLoader(TensorDataset(bad, y), batch_size=16)]
    loop(tmp_path / "runs", model, DataLoader(TensorDataset(x, y), batch_size=16), with_validation)
    (one,) = odd(tmp_path / "runs", "nonfinite")
    assert one["training"] is False


def test_first_layer_and_spoiled():
    assert first_layer(nn.Sequential(nn.ReLU(), nn.BatchNorm1d(3), nn.Linear(3, 1))) == "BatchNorm1d"
    assert first_layer(nn.ReLU()) == ""
    assert spoiled([torch.tensor([1.0, math.inf])])
    assert not spoiled([torch.tensor([1, 2]), torch.ones(2)])


# loops that are healthy and nasty: nothing of this room may be louder than a note


def lengths_vary():
    g = torch.Generator().manual_seed(2)
    texts = [torch.randint(1, 40, (int(n),), generator=g) for n in torch.randint(3, 40, (480,), generator=g)]

    def collate(some):
        ids = nn.utils.rnn.pad_sequence(some, batch_first=True)
        return ids, ids.ne(0).long()

    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = nn.Embedding(40, 8), nn.Linear(8, 2)

        def forward(self, batch):
            ids, mask = batch
            return self.head((self.embed(ids) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True))

    return (
        Bag(),
        DataLoader(texts, batch_size=16, collate_fn=collate),
        lambda m, b: nn.functional.cross_entropy(m(b), b[0][:, 0] % 2),
    )


def last_batch_is_short():
    return net(), DataLoader(TensorDataset(*table(643)), batch_size=16, shuffle=True), squared


def one_hot_columns():
    x = torch.cat(
        [nn.functional.one_hot(torch.arange(800) // 5 % 6, 6).float(), torch.zeros(800, 1), table(800, 2)[0]], 1
    )
    return net(9), DataLoader(TensorDataset(x, x.sum(1)), batch_size=16, shuffle=True), squared


def additive_masks():
    x = table(640)[0]
    mask = torch.where(torch.rand(640, 5, generator=torch.Generator().manual_seed(1)) < 0.3, float("-inf"), 0.0)
    return (
        net(),
        DataLoader(TensorDataset(x, mask), batch_size=16),
        lambda m, b: m(torch.where(b[1] == 0, b[0], 0.0)).pow(2).mean(),
    )


def sorted_curriculum():
    x, y = table(1280)
    order = x.abs().sum(1).argsort()
    return net(), DataLoader(TensorDataset(x[order], y[order]), batch_size=16), squared


def embeddings_as_inputs():
    x = torch.randn(640, 32, generator=torch.Generator().manual_seed(1)) * torch.logspace(-2, 1.5, 32)
    return net(32), DataLoader(TensorDataset(x, x[:, 0]), batch_size=16, shuffle=True), squared


def raw_table_with_batch_norm():
    x, y = table(640)
    x = x * torch.tensor([1e4, 1.0, 300.0, 5.0, 1e-3]) + torch.tensor([2e5, 0.0, 2000.0, 1.0, 0.0])
    torch.manual_seed(1)
    return (
        nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 1)),
        DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True),
        squared,
    )


def tiny_data_many_epochs():
    x, y = table(24)
    return net(), DataLoader([(x[n], y[n]) for n in range(24)] * 1, batch_size=8), squared


def one_batch_overfit():
    return net(), [tuple(table(16))] * 120, squared


def drawn_with_replacement():
    data = TensorDataset(*table(64))
    sampler = torch.utils.data.WeightedRandomSampler(torch.rand(64), 640, generator=torch.Generator().manual_seed(1))
    return net(), DataLoader(data, batch_size=1, sampler=sampler), squared


def copies_of_a_small_dataset():
    data = torch.utils.data.ConcatDataset([TensorDataset(*table(80))] * 8)
    return net(), DataLoader(data, batch_size=16), squared


def rare_binary_label():
    x, _ = table(1280)
    return net(5, 2), DataLoader(TensorDataset(x, (x[:, 0] > 2.2).long()), batch_size=16, shuffle=True), crossed


def sparse_features():
    g = torch.Generator().manual_seed(3)
    x = torch.randn(1280, 12, generator=g) * (torch.rand(1280, 12, generator=g) < 0.2)
    return net(12), DataLoader(TensorDataset(x, x.sum(1)), batch_size=8, shuffle=True), squared


def heavy_tails():
    g = torch.Generator().manual_seed(3)
    x = torch.randn(1600, 5, generator=g) / torch.rand(1600, 5, generator=g).clamp_min(1e-3)
    return net(), DataLoader(TensorDataset(x, x.tanh().sum(1)), batch_size=16, shuffle=True), squared


def two_tasks_by_turns():
    a, b = table(320), (table(320, 5, 1)[0], torch.arange(320) % 3)

    class Turns(IterableDataset):
        def __iter__(self):
            for n in range(20):
                yield {"x": a[0][16 * n : 16 * n + 16], "y": a[1][16 * n : 16 * n + 16]}
                yield {"x": b[0][16 * n : 16 * n + 16], "label": b[1][16 * n : 16 * n + 16]}

    return (
        net(5, 3),
        DataLoader(Turns(), batch_size=None),
        lambda m, d: m(d["x"]).pow(2).mean() if "y" in d else crossed(m, (d["x"], d["label"])),
    )


def images_with_black_frames():
    g = torch.Generator().manual_seed(4)
    x = torch.rand(640, 1, 6, 6, generator=g) * (torch.rand(640, 1, 1, 1, generator=g) > 0.1)
    torch.manual_seed(1)
    return (
        nn.Sequential(nn.Flatten(), nn.Linear(36, 1)),
        DataLoader(TensorDataset(x, x.mean((1, 2, 3))), batch_size=16, shuffle=True),
        squared,
    )


HEALTHY = [
    lengths_vary, last_batch_is_short, one_hot_columns, additive_masks, sorted_curriculum, embeddings_as_inputs,
    raw_table_with_batch_norm, tiny_data_many_epochs, one_batch_overfit, drawn_with_replacement,
    copies_of_a_small_dataset, rare_binary_label, sparse_features, heavy_tails, two_tasks_by_turns,
    images_with_black_frames,
]  # fmt: skip


@pytest.mark.parametrize("make", HEALTHY, ids=lambda make: make.__name__)
def test_nothing_loud_is_said_of_healthy_data(tmp_path, make):
    torch.manual_seed(1)
    model, loader, loss_of = make()
    loop(tmp_path / "runs", model, loader, loss_of, epochs=3, lr=1e-3)
    assert loud(tmp_path / "runs") == []


def test_a_batch_that_was_skipped_is_looked_at_when_its_loss_stands_out(tmp_path):
    x, y = table(960)
    x[560] = 900.0
    with under_watch(tmp_path / "runs") as session:
        observer = session.dispatcher.observers["batch-facts"]
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
        for number, batch in enumerate(DataLoader(TensorDataset(x, y + (x[:, 0] > 100) * 50), batch_size=8)):
            loss = squared(model, batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number == 64:
                observer.budget.spent = 1e9
    far = odd(tmp_path / "runs", "range")
    assert [(f["ref"]["iteration"], f["samples"]) for f in far] == [(70, [560])] * 2
    assert facts(tmp_path / "runs", "BatchProfile")[-1]["looked"] < 75


def test_nothing_loud_is_said_where_every_batch_of_one_row_is_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(SummaryBudget, "open", lambda self: True)
    torch.manual_seed(1)
    model, loader, loss_of = drawn_with_replacement()
    loop(tmp_path / "runs", model, loader, loss_of, epochs=3, lr=1e-3)
    assert loud(tmp_path / "runs") == []


class Recordings:
    """Rows on [0, 255] as bytes; one was kept with two bytes a value, its own range."""

    def __init__(self, odd: bool):
        chance = np.random.default_rng(0)
        self.rows = [chance.integers(0, 256, 5).astype(np.uint8) for _ in range(320)]
        if odd:
            self.rows[301] = (self.rows[301].astype(np.uint16) + 1) * 257

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, at):
        row = self.rows[at]
        x = torch.from_numpy(row / 255.0).float()
        return x, x.sum()


@pytest.mark.parametrize("odd", [True, False])
def test_a_record_that_is_kept_in_another_dtype_is_told_where_it_is_scaled(tmp_path, odd):
    torch.manual_seed(0)
    loop(tmp_path, net(), DataLoader(Recordings(odd), batch_size=4), squared, lr=1e-6)
    told = [f for f in found(tmp_path, "data/hard-samples") if f.severity == "warning"]
    if not odd:
        assert told == []
        return
    (one,) = told
    assert "sample 301 is kept as uint16, " in one.message
    assert one.place.frame.code == "x = torch.from_numpy(row / 255.0).float()"
    assert one.place.sample_index == (301,)
