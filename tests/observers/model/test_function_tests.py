"""The model tested as a function: what must not change does not, and the training is bit for bit the same."""

from __future__ import annotations

import copy
import random

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from debugtracer import session
from debugtracer.observers.model import function_tests
from debugtracer.observers.model.function_tests import library_model, likeliest
from debugtracer.observers.model.recorded_call import SAMPLES
from debugtracer.observers.observed_run import FIRST_STEPS
from debugtracer.trace.facts.function_test import FunctionTest
from tests.observers.told import facts, findings
from tests.watching import same_bits, under_watch

SYMBOLS, WIDTH, LENGTH = 11, 8, 10


class Writer(nn.Module):
    def __init__(self, causal: bool = True):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, WIDTH)
        self.places = nn.Parameter(torch.randn(64, WIDTH))
        self.norm = nn.LayerNorm(WIDTH)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(WIDTH, SYMBOLS)
        self.causal = causal

    def forward(self, x):
        h = self.norm(self.embed(x) + self.places[: x.shape[1]])
        h = (
            h
            + self.drop(F.scaled_dot_product_attention(h[:, None], h[:, None], h[:, None], is_causal=self.causal))[:, 0]
        )
        return self.head(h)


def write(out, model, steps=3, shift=1, **settings):
    torch.manual_seed(6)
    random.seed(6)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    with under_watch(out, **settings):
        for _ in range(steps):
            text = torch.randint(0, SYMBOLS, (5, LENGTH + 1))
            loss = F.cross_entropy(model(text[:, :-1]).transpose(1, 2), text[:, shift : LENGTH + shift])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return losses


def trials(out):
    return {fact.trial: fact for fact in facts(out, FunctionTest)}


def test_a_missing_mask_is_an_error_at_the_attention(tmp_path):
    write(tmp_path, Writer(causal=False))
    told = trials(tmp_path)["later_tokens"]
    assert told.changed
    assert told.position == LENGTH // 2
    assert "scaled_dot_product_attention" in told.frame.code
    (finding,) = findings(tmp_path, "future-leak")
    assert (finding.severity, finding.kind) == ("error", "label_leak")


class Copyist(nn.Module):
    """Reads all of a source, and writes it from left to right."""

    def __init__(self, causal: bool = True):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, WIDTH)
        self.writer = Writer(causal)

    def forward(self, source, text):
        return self.writer(text) + self.writer.head(self.embed(source).mean(1, keepdim=True))


@pytest.mark.parametrize("causal", [True, False])
def test_a_source_that_is_to_be_copied_may_be_seen_whole(causal, tmp_path):
    torch.manual_seed(2)
    model = Copyist(causal)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(3):
            text = torch.randint(0, SYMBOLS - 1, (5, 14))
            loss = F.cross_entropy(model(text, text[:, :-1]).transpose(1, 2), text[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert trials(tmp_path)["later_tokens"].changed is not causal


def test_a_loss_over_the_last_positions_alone(tmp_path):
    torch.manual_seed(2)
    optimizer = torch.optim.SGD((model := Writer(causal=False)).parameters(), lr=0.1)
    with under_watch(tmp_path):
        for _ in range(3):
            text = torch.randint(0, SYMBOLS - 1, (5, 25))
            loss = F.cross_entropy(model(text[:, :-1])[:, 6:].flatten(0, 1), text[:, 7:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    told = trials(tmp_path)["later_tokens"]
    assert told.changed
    assert "scaled_dot_product_attention" in told.frame.code


def test_a_causal_model_changes_by_exactly_nothing(tmp_path):
    write(tmp_path, Writer())
    told = trials(tmp_path)
    assert {name: (t.changed, t.size) for name, t in told.items()} == {
        "later_tokens": (False, 0.0),
        "other_samples": (False, 0.0),
        "any_input": (False, None),
    }


@pytest.mark.parametrize("norm", [nn.LayerNorm(8), nn.BatchNorm1d(8)])
def test_training_is_bit_for_bit_the_same_without_them(norm, tmp_path):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(5, 8), copy.deepcopy(norm), nn.Dropout(0.3), nn.Linear(8, 3))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return self.body(x) + torch.rand(1)

    def train(out, **settings):
        torch.manual_seed(7)
        model = Net()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        losses = []
        with under_watch(out, **settings):
            for _ in range(4):
                loss = F.cross_entropy(model(torch.randn(6, 5)), torch.randint(0, 3, (6,)))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
        return losses, model, torch.get_rng_state(), model.calls

    (one, first, state, calls), (two, second, other, again) = (
        train(tmp_path / "on"),
        train(tmp_path / "off", function_tests="off"),
    )
    assert trials(tmp_path / "on")
    assert not trials(tmp_path / "off")
    assert all(same_bits(a, b) for a, b in zip(one, two, strict=True))
    assert all(same_bits(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True))
    assert torch.equal(state, other)
    assert calls == again == 4


def test_a_model_that_prints_is_left_alone(tmp_path, capsys):
    class Speaks(nn.Linear):
        def forward(self, x):
            print("forward")
            return super().forward(x)

    model = Speaks(3, 2)
    with under_watch(tmp_path):
        model(torch.randn(4, 3)).sum().backward()
    assert capsys.readouterr().out == "forward\n"
    assert trials(tmp_path)["skipped"].why == "print in forward"


def test_a_norm_over_the_batch_by_hand_is_a_note(tmp_path):
    class Centred(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, x):
            h = self.layer(x)
            return h - h.mean(0)

    model = Centred()
    with under_watch(tmp_path):
        model(torch.randn(6, 4)).square().sum().backward()
    assert trials(tmp_path)["other_samples"].changed
    assert [f.severity for f in findings(tmp_path, "cross-sample-leak")] == ["note"]


class Matched(nn.Linear):
    def forward(self, x):
        left = F.normalize(super().forward(x), dim=1)
        return left @ left.T


def test_an_output_of_every_sample_with_every_other_mixes_them_on_purpose(tmp_path):
    model = Matched(4, 8)
    with under_watch(tmp_path):
        F.cross_entropy(model(torch.randn(6, 4)), torch.arange(6)).backward()
    assert "other_samples" not in trials(tmp_path)


def test_as_many_classes_as_samples_are_no_pairs(tmp_path):
    model = nn.Sequential(nn.Linear(4, SAMPLES), nn.Softmax(dim=0))
    with under_watch(tmp_path):
        model(torch.randn(SAMPLES, 4)).square().sum().backward()
    assert trials(tmp_path)["other_samples"].changed


class Reads(nn.Module):
    """What all samples read from the first one."""

    def __init__(self, read):
        super().__init__()
        self.each, self.read = nn.Linear(4, 3), read

    def forward(self, x):
        return self.read(self.each(x))


def rows_of_all(h):
    return h.reshape(-1, 3)[torch.arange(SAMPLES) % h.shape[1]]


def step(tmp_path, read, *sizes):
    with under_watch(tmp_path):
        Reads(read)(torch.randn(SAMPLES, *sizes)).square().sum().backward()
    return trials(tmp_path)["other_samples"]


def test_an_index_without_its_offset_reads_from_the_first_sample(tmp_path):
    told = step(tmp_path, rows_of_all, 5, 4)
    assert told.changed and told.function == "first" and "reshape(-1, 3)[" in told.frame.code


def test_a_first_row_that_is_written_by_hand_is_no_lost_offset(tmp_path):
    for number, read in enumerate((lambda h: h - h[:1], lambda h: h + h[0])):
        told = step(tmp_path / str(number), read, 4)
        assert told.changed and told.function == ""


def test_batch_norm_is_exempt(tmp_path):
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    with under_watch(tmp_path):
        model(torch.randn(6, 4)).square().sum().backward()
    assert not trials(tmp_path)["other_samples"].changed


def test_targets_that_are_not_shifted_are_an_error_at_the_loss(tmp_path):
    write(tmp_path, Writer(), shift=0)
    told = trials(tmp_path)["own_token"]
    assert (told.changed, told.position) == (True, LENGTH // 2)
    (finding,) = findings(tmp_path, "future-leak")
    assert finding.place.frame.code.startswith("loss = F.cross_entropy")


class Lines(Dataset[dict[str, list[int]]]):
    """Texts whose labels begin some letters later."""

    def __init__(self, shift: int):
        self.texts, self.shift = torch.randint(0, SYMBOLS, (15, LENGTH + 2)).tolist(), shift

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        text = self.texts[index]
        return {"text": text[:LENGTH], "labels": text[self.shift : LENGTH + self.shift]}


def together(rows):
    out = {"labels": [], "text": []}
    for row in rows:
        out["labels"].append(row["labels"] + [-100] * 0)
        out["text"].append(row["text"] + [0] * 0)
    return {name: torch.tensor(values) for name, values in out.items()}


class Speaker(Writer):
    """Computes its loss itself, and shifts the labels for it."""

    def forward(self, x, labels=None):
        scores = super().forward(x)
        if labels is None:
            return scores
        return F.cross_entropy(scores.flatten(0, 1), F.pad(labels, (0, 1), value=-100)[:, 1:].flatten()), scores


@pytest.mark.parametrize(("library", "shift", "moved"), [(True, 1, False), (True, 1, True), (False, 2, False)])
def test_targets_too_far_on_are_told_at_the_line_of_the_dataset(tmp_path, monkeypatch, library, shift, moved):
    if library:
        monkeypatch.setattr(function_tests, "library_model", lambda module: "Speaker")
    torch.manual_seed(6)
    optimizer = torch.optim.SGD((model := Speaker()).parameters(), lr=0.1)
    with under_watch(tmp_path):
        loader = DataLoader(Lines(shift), batch_size=5, collate_fn=together)
        for batch in loader:
            if moved:
                batch = {name: value.clone() for name, value in batch.items()}
            if library:
                loss = model(batch["text"], labels=batch["labels"])[0]
            else:
                loss = F.cross_entropy(model(batch["text"]).flatten(0, 1), batch["labels"].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    told = trials(tmp_path)["shifted_token"]
    assert (told.changed, told.position) == (True, 2)
    assert [frame.code.partition("(")[0] for frame in told.made[:2]] == [
        'return {"text": text[:LENGTH], "labels": text[self.shift : LENGTH + self.shift]}', 'out["labels"].append',
    ]  # fmt: skip
    (finding,) = findings(tmp_path, "target-shift")
    assert finding.place.frame == told.made[0]


def test_a_model_that_reads_both_ways_may_copy(tmp_path):
    write(tmp_path, Writer(causal=False), shift=0)
    assert not trials(tmp_path)["own_token"].changed
    assert not findings(tmp_path, "future-leak")


class LossAlone(Writer):
    """Returns its loss and nothing else; a band of local attention by a mask of its own."""

    def __init__(self, ahead: int):
        super().__init__()
        band = torch.ones(64, 64, dtype=torch.bool).triu(-3).tril(ahead)
        self.register_buffer("band", band)

    def forward(self, text):
        x, following = text[:, :-1], text[:, 1:]
        h = self.norm(self.embed(x) + self.places[: x.shape[1]])
        n = x.shape[1]
        h = h + F.scaled_dot_product_attention(h, h, h, attn_mask=self.band[:n, :n])
        return F.cross_entropy(self.head(h).transpose(1, 2), following)


def alone(out, ahead, length=LENGTH + 3):
    torch.manual_seed(6)
    model = LossAlone(ahead)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with under_watch(out):
        for _ in range(3):
            text = torch.randint(1, SYMBOLS, (5, length + 1))
            text[:, 0] = 0  # a start that is never a target
            loss = model(text)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return trials(out)


def test_a_model_that_returns_its_loss_alone_is_told_at_the_line_of_its_mask(tmp_path):
    fact = alone(tmp_path, 1)["later_tokens"]
    assert (fact.changed, fact.frame.code) == (
        True, "h = h + F.scaled_dot_product_attention(h, h, h, attn_mask=self.band[:n, :n])",
    )  # fmt: skip
    assert [frame.code for frame in fact.made] == [
        "band = torch.ones(64, 64, dtype=torch.bool).triu(-3).tril(ahead)", 'self.register_buffer("band", band)',
    ]  # fmt: skip
    (finding,) = [f for f in findings(tmp_path) if f.check == "model/future-leak"]
    assert finding.place.frame == fact.made[0]


def test_a_model_that_returns_its_loss_alone_and_does_not_look_ahead_is_silent(tmp_path):
    found = alone(tmp_path, 0)
    assert not found["later_tokens"].changed
    assert findings(tmp_path, "future-leak") == []


def test_as_many_classes_as_tokens_leave_it_open_which_are_the_positions(tmp_path):
    assert "later_tokens" not in alone(tmp_path, 0, SYMBOLS - 1)


def test_the_classes_of_smoothed_targets():
    smoothed = torch.tensor([[0.1, 0.8, 0.1], [0.0, 0.0, 0.0], [0.9, 0.05, 0.05]])
    assert likeliest(smoothed).tolist() == [1, -100, 0]
    assert likeliest(torch.tensor([2, 1])).tolist() == [2, 1]
    assert likeliest(torch.rand(4)) is None


def test_a_library_s_model_is_told_from_the_user_s_own_and_from_a_loss():
    class Mine(nn.Linear):
        """Of this file."""

    assert library_model(nn.Linear(2, 2)) == "Linear"
    assert [library_model(m) for m in (Mine(2, 2), nn.CrossEntropyLoss(), None)] == ["", "", ""]


def test_what_is_dear_is_tested_in_steps_that_are_not_inspected_or_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(function_tests, "LITTLE_BYTES", 0)
    monkeypatch.setattr(function_tests, "QUICK_S", 0.0)
    ran = []
    run = function_tests.ShadowModel.run
    monkeypatch.setattr(
        function_tests.ShadowModel,
        "run",
        lambda self, *args: (ran.append(session.active().state.step), run(self, *args))[1],
    )
    write(tmp_path / "long", Writer(causal=False), steps=20)
    mine = [step for step in ran if step >= FIRST_STEPS]
    assert mine == ran
    assert len(set(mine)) > 1
    write(tmp_path / "short", Writer(causal=False), steps=2)
    short, long = ({name: fact.changed for name, fact in trials(tmp_path / word).items()} for word in ("short", "long"))
    assert short == long
    assert long["later_tokens"]


def test_an_incident_has_them_all(tmp_path, monkeypatch):
    monkeypatch.setattr(function_tests, "LITTLE_BYTES", 0)
    model = Writer(causal=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with under_watch(tmp_path, mode="observe"):
        for step in range(2):
            text = torch.randint(0, SYMBOLS, (5, LENGTH + 1))
            loss = F.cross_entropy(model(text[:, :-1]).transpose(1, 2), text[:, 1:])
            (loss * (float("nan") if step else 1.0)).backward()
            optimizer.step()
        told = [f.trial for f in session.active().observed_run.facts if isinstance(f, FunctionTest)]
    assert "later_tokens" in told or "later_tokens" in trials(tmp_path)


@pytest.mark.parametrize("why", ["interrupted", "traced"])
def test_nothing_is_tested_where_somebody_waits_or_the_program_traces(tmp_path, monkeypatch, why):
    monkeypatch.setattr(function_tests, "LITTLE_BYTES", 0)
    monkeypatch.setattr(function_tests, "QUICK_S", -1.0)
    monkeypatch.setattr(function_tests, "STEP_SHARE", 0.0)
    if why == "traced":
        monkeypatch.setattr(function_tests, "is_traced", lambda: True)
    model = Writer(causal=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    with under_watch(tmp_path) as watching:
        text = torch.randint(0, SYMBOLS, (5, LENGTH + 1))
        F.cross_entropy(model(text[:, :-1]).transpose(1, 2), text[:, 1:]).backward()
        optimizer.step()
        tests = watching.dispatcher.observers["function-tests"]
        assert bool(tests.under_test) == (why == "interrupted")
        left = len(tests.under_test)
        watching.finished(interrupted=True)
        assert len(tests.under_test) == left
