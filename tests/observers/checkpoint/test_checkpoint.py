"""Saves, loads, and the first update after them."""

from __future__ import annotations

import io
import pickle
import threading

import pytest
import torch
from torch import nn
from torch.overrides import _get_current_function_mode

from debugtracer.trace.events import Observed
from tests.watching import events, under_watch


def train(model, optimizer, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).square().mean().backward()
        optimizer.step()


def resumed(out):
    return [e.fact for e in events(out) if isinstance(e, Observed) and e.word == "checkpoint/Resumed"]


def run(out, with_optimizer, counter=True):
    with under_watch(out):
        file = io.BytesIO()
        models = [nn.Linear(3, 3) for _ in range(2)]
        for place, model in enumerate(models):
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
            if place:
                file.seek(0)
                state = torch.load(file)
                model.load_state_dict(state["model"])
                if with_optimizer:
                    optimizer.load_state_dict(state["optimizer"])
            train(model, optimizer, 4)
            file = io.BytesIO()
            torch.save(
                {"model": model.state_dict(), "optimizer": optimizer.state_dict(), **({"step": 4} if counter else {})},
                file,
            )
    return resumed(out)


def test_a_resume_without_its_moments(tmp_path):
    (fact,) = run(tmp_path / "runs", with_optimizer=False)
    assert (fact["fresh"], fact["saved_here"], fact["saved_step"], fact["counter"], fact["same_setup"]) == (
        True,
        True,
        4,
        True,
        True,
    )
    assert fact["saved"] == ["counter", "optimizer", "weights"]
    assert "torch.save" in fact["save_frame"]["code"]


def test_a_whole_resume(tmp_path):
    (fact,) = run(tmp_path / "runs", with_optimizer=True)
    assert (fact["fresh"], fact["restored"]) == (False, ["optimizer"])


def test_objects_that_were_built_anew_and_those_that_go_on(tmp_path):
    (built,) = run(tmp_path / "built", with_optimizer=True)
    with under_watch(tmp_path / "kept"):
        model = nn.Linear(3, 3)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        train(model, optimizer, 4)
        file = io.BytesIO()
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
        train(model, optimizer, 4)
        file.seek(0)
        state = torch.load(file)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        train(model, optimizer, 4)
    (kept,) = resumed(tmp_path / "kept")
    assert (built["saved_here"], built["in_place"]) == (True, False)
    assert (kept["saved_here"], kept["in_place"]) == (True, True)


def test_weights_that_are_pruned_after_the_load(tmp_path):
    for at, mask in enumerate((False, True, True)):
        with under_watch(tmp_path / str(at)):
            model = nn.Linear(3, 3)
            optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
            train(model, optimizer, 2)
            state = {name: value.clone() for name, value in model.state_dict().items()}
            model.load_state_dict(state)
            if mask:
                with torch.no_grad():
                    model.weight.mul_(model.weight > 0 if at == 1 else 1.0)  # DDP writes the same values anew
            train(model, optimizer, 2)
        assert [fact["edited"] for fact in resumed(tmp_path / str(at))] == [at == 1]


def test_everything_patched_is_as_it_was_and_can_be_pickled_meanwhile(tmp_path):
    before = torch.save, torch.load, nn.Module.load_state_dict, torch.optim.Optimizer.load_state_dict
    with under_watch(tmp_path / "runs"):
        assert torch.save is not before[0]
        assert pickle.loads(pickle.dumps(torch.save)) is torch.save
    assert (torch.save, torch.load, nn.Module.load_state_dict, torch.optim.Optimizer.load_state_dict) == before


def other_network(out, gone=False, together=False):
    """Load a network, and train another one of the same shape."""
    with under_watch(out):
        file = io.BytesIO()
        torch.save({"model": nn.Linear(3, 3).state_dict(), "step": 4}, file)
        for place in range(3 if gone else 1):
            file.seek(0)
            teacher = nn.Linear(3, 3).requires_grad_(False)
            teacher.load_state_dict(torch.load(file)["model"])
            if gone:
                del teacher
            student = nn.Linear(3, 3)
            held = [*student.parameters(), *(teacher.parameters() if together else ())]
            train(student, torch.optim.Adam(held, lr=1e-2), 2 + place)
    return resumed(out)


def test_the_file_of_a_teacher_is_not_that_of_its_student(tmp_path):
    assert other_network(tmp_path / "beside") == []
    assert other_network(tmp_path / "gone", gone=True) == []
    assert other_network(tmp_path / "together", together=True) == []


class Asked:
    """Notes the function mode that pickle meets."""

    def __init__(self, met):
        self.met = met

    def __reduce__(self):
        self.met.append(_get_current_function_mode())
        return int, (1,)


def test_a_save_goes_through_no_mode_of_ours(tmp_path):
    met = []
    with under_watch(tmp_path / "runs"):
        model = nn.Linear(3, 3)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        train(model, optimizer, 2)
        ours = _get_current_function_mode()
        torch.save({"model": model.state_dict(), "asked": Asked(met)}, io.BytesIO())
        assert _get_current_function_mode() is ours is not None
        with pytest.raises(ZeroDivisionError):
            torch.save({"model": model.state_dict(), "asked": Failing()}, io.BytesIO())
        assert _get_current_function_mode() is ours
        beside = threading.Thread(target=torch.save, args=({"asked": Waits(ours, met)}, io.BytesIO()))
        beside.start()
        beside.join()
    assert met == [None, 0]


class Failing:
    """Cannot be saved."""

    def __reduce__(self):
        raise ZeroDivisionError


class Waits:
    """Notes whether the mode of the training thread hears nothing while another thread saves."""

    def __init__(self, ours, met):
        self.ours, self.met = ours, met

    def __reduce__(self):
        self.met.append(self.ours.stack.off)
        return int, (1,)
