"""Functions of a program's own, compared once."""

from __future__ import annotations

import torch
from torch import nn
from torch.autograd import Function

from debugtracer.trace.facts.function_derivative import FunctionDerivative
from debugtracer.trace.facts.passed_gradient import PassedGradient
from tests.observers.told import facts, findings
from tests.watching import under_watch

CALLS = []


class Halved(Function):
    """A square with half of its derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.square()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x


class Whole(Halved):
    """A square with its derivative."""

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * grad * x


class Noted(Halved):
    """A square that leaves a trace."""

    @staticmethod
    def forward(ctx, x):
        print("forward")
        ctx.save_for_backward(x)
        return x.square()


class Spread(Function):
    """A penalty whose backward leaves out the gradient that comes in."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x - x.mean())
        return (x - x.mean()).square().sum()

    @staticmethod
    def backward(ctx, grad):
        (apart,) = ctx.saved_tensors
        return 2 * apart


class Centred(Function):
    """Distance to the centre of a class; the gradient of a centre is divided by how often its class came."""

    @staticmethod
    def forward(ctx, x, labels, centres):
        ctx.save_for_backward(x, labels, centres)
        return (x - centres[labels]).square().sum() / 2

    @staticmethod
    def backward(ctx, grad):
        x, labels, centres = ctx.saved_tensors
        apart = centres[labels] - x
        counts = torch.bincount(labels, minlength=len(centres)) + 1
        return -grad * apart, None, torch.zeros_like(centres).index_add_(0, labels, apart) / counts[:, None]


class CentredAway(Centred):
    """The same with the wrong sign for what is to come near."""

    @staticmethod
    def backward(ctx, grad):
        x, _, centres = Centred.backward(ctx, grad)
        return -x, None, centres


class Clipped(Function):
    """A product whose gradient is cut off."""

    @staticmethod
    def forward(ctx, x):
        return x.cumsum(1)

    @staticmethod
    def backward(ctx, grad):
        return grad.flip(1).cumsum(1).flip(1).clamp(-0.01, 0.01)


class ClippedWrong(Clipped):
    """The same, summed up the wrong way round."""

    @staticmethod
    def backward(ctx, grad):
        return grad.cumsum(1).clamp(-0.01, 0.01)


class LearntStep(Function):
    """A quantiser that learns the width of its steps (LSQ)."""

    @staticmethod
    def forward(ctx, x, width):
        ctx.save_for_backward(x, width)
        return (x / width).round() * width

    @staticmethod
    def backward(ctx, grad):
        x, width = ctx.saved_tensors
        return grad, (grad * ((x / width).round() - x / width)).sum().view(1)


def centred(function):
    labels, centres = torch.tensor([0, 0, 0, 1, 1, 2]), nn.Parameter(torch.arange(12.0).view(3, 4))
    return lambda x: function.apply(x, labels, centres)


halved = Halved.apply  # kept before the watch begins


def run(out, apply, watched=True):
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loop():
        for _ in range(3):
            optimizer.zero_grad()
            apply(model(torch.randn(6, 4))).mean().backward()
            optimizer.step()

    if watched:
        with under_watch(out):
            loop()
    else:
        loop()
    return model.weight.detach().clone()


def test_half_a_derivative_is_told_at_the_line_that_returns_it(tmp_path):
    run(tmp_path, lambda x: Halved.apply(x))
    (fact,) = facts(tmp_path, FunctionDerivative)
    assert (fact.function, fact.input, fact.difference, round(float(fact.ratio), 6)) == ("Halved", 0, "factor", 0.5)
    assert fact.frame.code == "return grad * x"
    assert [f.severity for f in findings(tmp_path, "wrong-derivative")] == ["warning"]


def test_a_backward_that_leaves_out_the_gradient_is_told_where_it_is_not_1(tmp_path):
    run(tmp_path, lambda x: 0.01 * Spread.apply(x))  # also: adding to x does not move it
    (fact,) = facts(tmp_path, FunctionDerivative)
    assert (fact.difference, round(float(fact.came_in), 6)) == ("unscaled", 0.01)
    (finding,) = findings(tmp_path, "wrong-derivative")
    assert "whatever gradient comes in, and 0.01 came in (a factor after it has no effect)" in finding.message
    assert finding.message.endswith("Multiply by grad_output.")


def test_a_loss_whose_backward_takes_its_gradient_to_be_1_is_silent_where_it_is_1(tmp_path):
    run(tmp_path, lambda x: Spread.apply(x))
    assert [f.difference for f in facts(tmp_path, FunctionDerivative)] == ["same"]
    assert findings(tmp_path, "wrong-derivative") == []


def test_the_derivative_is_silent(tmp_path):
    run(tmp_path, lambda x: Whole.apply(x))
    assert [f.difference for f in facts(tmp_path, FunctionDerivative)] == ["same"]
    assert findings(tmp_path, "wrong-derivative") == []


def test_one_that_leaves_a_trace_is_not_called_again(tmp_path, capsys):
    run(tmp_path, lambda x: Noted.apply(x))
    assert facts(tmp_path, FunctionDerivative) == []
    assert capsys.readouterr().out.count("forward") == 3


def test_training_is_the_same_bit_for_bit_and_apply_is_restored(tmp_path):
    before = vars(Function)["apply"]
    plain = run(tmp_path, lambda x: Halved.apply(x), watched=False)
    assert torch.equal(plain, run(tmp_path / "a", lambda x: Halved.apply(x)))
    assert vars(Function)["apply"] is before


def test_a_compiled_function_is_compiled_whole(tmp_path):
    torch._dynamo.reset()
    known = []

    def compiled(x):
        known[:] = known or [torch.compile(lambda x: Whole.apply(x) + 1, backend="eager", fullgraph=True)]
        return known[0](x)

    run(tmp_path, compiled)
    assert facts(tmp_path, FunctionDerivative) == []


def test_an_apply_that_was_kept_before_is_not_harmed(tmp_path):
    run(tmp_path, halved)
    assert findings(tmp_path, "wrong-derivative") == []


def test_a_centre_divided_by_how_often_its_class_came_is_a_note(tmp_path):
    run(tmp_path, centred(Centred))
    assert [f.difference for f in facts(tmp_path, FunctionDerivative)] == ["same", "rows"]
    (finding,) = findings(tmp_path, "wrong-derivative")
    assert finding.severity == "note"
    assert "times a positive number of its own for each row for input 2" in finding.message


def test_a_wrong_sign_beside_it_is_a_warning(tmp_path):
    run(tmp_path, centred(CentredAway))
    assert [f.difference for f in facts(tmp_path, FunctionDerivative)] == ["factor", "rows"]
    assert [f.severity for f in findings(tmp_path, "wrong-derivative")] == ["warning", "note"]


def test_a_gradient_that_is_cut_off_is_a_note_and_one_that_is_wrong_besides_is_not(tmp_path):
    run(tmp_path / "a", lambda x: Clipped.apply(x))
    assert [f.difference for f in facts(tmp_path / "a", FunctionDerivative)] == ["bounded"]
    run(tmp_path / "b", lambda x: ClippedWrong.apply(x))
    assert [f.severity for f in findings(tmp_path / "b", "wrong-derivative")] == ["warning"]


def test_the_width_of_the_steps_of_a_quantiser_is_a_note(tmp_path):
    width = nn.Parameter(torch.tensor([0.1]))
    run(tmp_path, lambda x: LearntStep.apply(x, width))
    assert [f.difference for f in facts(tmp_path, FunctionDerivative)] == ["steps"]
    assert [f.severity for f in findings(tmp_path, "wrong-derivative")] == ["note"]


class Reverse(Function):
    """A reversal of the gradient without its minus."""

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return ctx.alpha * grad, None


class Turned(Reverse):
    """The same with it."""

    @staticmethod
    def backward(ctx, grad):
        return -ctx.alpha * grad, None


class Exported(Reverse):
    """A function that stands for an operator of an exported graph."""

    @staticmethod
    def symbolic(graph, x, alpha):
        return graph.op("Identity", x)


def test_a_gradient_that_is_handed_on_is_told_where_its_input_goes_elsewhere_too(tmp_path):
    run(tmp_path, lambda x: Reverse.apply(h := 2 * x, 0.0) + h.tanh())
    (fact,) = facts(tmp_path, PassedGradient)
    assert (fact.function, fact.branches, fact.from_zero, float(fact.ratio)) == ("Reverse", True, True, 1.0)
    (finding,) = findings(tmp_path, "gradient-unturned")
    assert (finding.severity, finding.place.frame.code) == ("warning", "return ctx.alpha * grad, None")


def test_a_gradient_that_is_scaled_or_turned_or_stands_for_something_is_silent(tmp_path):
    run(tmp_path / "a", lambda x: Reverse.apply(h := 2 * x, 0.1) + h.tanh())
    run(tmp_path / "b", lambda x: Turned.apply(h := 2 * x, 1.0) + h.tanh())
    run(tmp_path / "c", lambda x: Exported.apply(h := 2 * x, 1.0) + h.tanh())
    for name in "abc":
        assert findings(tmp_path / name, "gradient-unturned") == []
