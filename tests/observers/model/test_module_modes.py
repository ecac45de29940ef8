"""train() and eval() are followed to the backward."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from debugtracer.trace.facts.module_modes import ModuleModes
from tests.observers.told import facts, findings
from tests.watching import under_watch


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.2), nn.Linear(6, 3))


def train(model, steps, optimizer):
    for _ in range(steps):
        loss = F.cross_entropy(model(torch.randn(8, 4)), torch.randint(0, 3, (8,)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(model):
    model.eval()
    with torch.no_grad():
        model(torch.randn(8, 4))


def loop(out, between, epochs=3, model=None):
    model = model or net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        for _ in range(epochs):
            train(model, 4, optimizer)
            between(model)
    return facts(out, ModuleModes)


def test_a_forgotten_train_is_an_error_at_the_eval_call(tmp_path):
    told = loop(tmp_path, evaluate)
    assert [(f.ref.iteration, f.training, f.total) for f in told] == [(0, 2, 2), (4, 0, 2)]
    assert (told[1].whole, told[1].evaluated, told[1].sleeping, told[1].frame.code) == (
        True,
        True,
        ("1", "2"),
        "model.eval()",
    )
    (finding,) = findings(tmp_path, "eval-mode-left")
    assert (finding.severity, finding.iteration, finding.place.frame.function) == ("error", 4, "evaluate")


def test_a_model_put_back_is_silent(tmp_path):
    def between(model):
        evaluate(model)
        model.train()

    assert [f.training for f in loop(tmp_path, between)] == [2]


def test_flags_set_without_train_count_too(tmp_path):
    def between(model):
        evaluate(model)
        for module in model.modules():
            module.training = True

    assert [f.training for f in loop(tmp_path, between)] == [2]
    assert not findings(tmp_path, "eval-mode-left")


def test_a_flag_set_on_the_model_alone_wakes_no_layer(tmp_path):
    def between(model):
        evaluate(model)
        model.training = True

    told = loop(tmp_path, between)
    assert [(f.training, f.whole, f.by_hand, f.evaluated) for f in told] == [
        (2, False, False, False),
        (0, True, True, True),
    ]
    (finding,) = findings(tmp_path, "eval-mode-left")
    assert (finding.severity, finding.place.frame.code) == ("error", "model.eval()")
    assert "; its own flag was set to training, which does not reach its layers; expected" in finding.message


class Held(nn.Sequential):
    def train(self, mode=True):
        super().train(mode)
        for layer in self.layers_held if mode and hasattr(self, "layers_held") else ():
            layer.training = False
        return self


def test_a_train_of_its_own_that_keeps_layers_asleep_is_on_purpose(tmp_path):
    def between(model):
        model.layers_held = [model[1], model[2]]
        evaluate(model)
        model.train()

    told = loop(tmp_path, between, model=Held(*net()))
    assert [(f.training, f.whole, f.by_hand) for f in told] == [(2, False, False), (0, False, False)]
    assert [f.severity for f in findings(tmp_path, "eval-mode-left")] == ["note"]


def test_a_flag_set_after_an_eval_of_its_own_phase_is_no_error(tmp_path):
    def between(model):
        model.eval()
        model.training = True

    loop(tmp_path, between)
    assert [f.severity for f in findings(tmp_path, "eval-mode-left")] == ["note"]


def test_norms_put_to_sleep_one_by_one_are_on_purpose(tmp_path):
    def between(model):
        model[1].eval()

    loop(tmp_path, between)
    assert not findings(tmp_path, "eval-mode-left")


def test_functional_dropout_makes_a_module_matter(tmp_path):
    class Drops(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, x):
            return F.dropout(self.layer(x), 0.2, self.training)

    loop(tmp_path, evaluate, model=nn.Sequential(Drops()))
    assert [f.severity for f in findings(tmp_path, "eval-mode-left")] == ["error"]


def test_three_evaluations_in_training_mode_are_a_note(tmp_path):
    def between(model):
        with torch.no_grad():
            model(torch.randn(8, 4))

    loop(tmp_path, between)
    assert [f.severity for f in findings(tmp_path, "train-mode-eval")] == ["note"]


def test_answers_for_which_train_was_just_called_are_no_note(tmp_path):
    def between(model):
        model.train()
        with torch.no_grad():
            model(torch.randn(8, 4))

    loop(tmp_path / "asked", between, epochs=6)
    assert not findings(tmp_path / "asked", "train-mode-eval")


def drawn(out, times, between):
    """Epochs that end with calls without a graph in training mode on one batch of a loader that trains nothing."""
    model, held = net(), DataLoader(TensorDataset(torch.randn(8, 4), torch.randint(0, 3, (8,))), batch_size=8)
    optimizer, ((x, _),) = torch.optim.SGD(model.parameters(), lr=0.01), held
    with under_watch(out):
        train(model, 4, optimizer)
        for _ in range(3):
            for x, _ in held:
                with torch.no_grad():
                    for _ in range(times):
                        F.cross_entropy(model(x), torch.zeros(8).long())
            if between:
                train(model, 1, optimizer)
    return [f.evaluation for f in facts(out, ModuleModes) if f.silent]


def test_answers_drawn_again_and_again_for_one_input_are_monte_carlo_dropout(tmp_path):
    assert drawn(tmp_path / "a", 8, between=False) == []
    assert drawn(tmp_path / "b", 8, between=True) == []
    assert drawn(tmp_path / "c", 1, between=False) == [True]
    assert drawn(tmp_path / "d", 2, between=False) == [True]


def test_train_is_as_it_was_afterwards(tmp_path):
    before = nn.Module.train
    with under_watch(tmp_path):
        assert nn.Module.train is not before
        assert net().train(False).training is False
    assert nn.Module.train is before


def validated(out, score=False, between=False, loader=True, mine=False):
    """Three batches of a validation in training mode: from a loader, scored, or with a backward between."""
    model, held = net(), DataLoader(TensorDataset(torch.randn(24, 4), torch.randint(0, 3, (24,))), batch_size=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(out):
        train(model, 4, optimizer)
        fresh = [(torch.randn(8, 4), torch.zeros(8).long()) for _ in range(3)]
        for x, y in held if loader else fresh:
            with torch.no_grad():
                answer = model(x)
                if score:
                    F.cross_entropy(answer, y)
                if mine:
                    torch.cdist(answer, answer).topk(2)
            if between:
                train(model, 1, optimizer)
        with torch.no_grad():
            model(torch.randn(8, 4))
    return [f.evaluation for f in facts(out, ModuleModes) if f.silent]


def test_a_validation_is_told_from_samples_for_a_critic(tmp_path):
    assert validated(tmp_path / "a") == [True]
    assert validated(tmp_path / "b", score=True, loader=False) == [False, True]  # scored calls come one behind
    assert validated(tmp_path / "c", loader=False) == [False]
    assert validated(tmp_path / "d", between=True) == [False]
    assert validated(tmp_path / "e", mine=True, loader=False) == [False]


def attacked(out, *, puts_back, trains=True):
    model = net()
    with under_watch(out):
        optimizer = torch.optim.SGD(model.parameters() if trains else [nn.Parameter(torch.zeros(2))], lr=0.01)
        model.train()
        for _ in range(20):
            model.eval()
            near = torch.randn(8, 4, requires_grad=True)
            (grad,) = torch.autograd.grad(model(near).sum(), near)
            if puts_back:
                model.train()
            optimizer.zero_grad()
            F.cross_entropy(model(near.detach() + grad), torch.randint(0, 3, (8,))).backward()
            optimizer.step()
    return findings(out, "eval-mode-left")


def test_an_attack_that_leaves_the_model_in_evaluation_mode_in_each_step_is_a_warning(tmp_path):
    (finding,) = attacked(tmp_path / "a", puts_back=False)
    assert (finding.severity, finding.place.frame.code) == ("warning", "model.eval()")
    assert not attacked(tmp_path / "b", puts_back=True)
    assert not attacked(tmp_path / "c", puts_back=False, trains=False)
