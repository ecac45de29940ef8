"""Which statements are rewritten, and which are left as they are."""

from __future__ import annotations

import pytest

from debugtracer.causes.rewrite.rewritten import rewritten


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("done = opt.step()", "opt"),
        ("scaler.step(self.opt)", "self.opt"),
        ("scaler.step(opts[0])", "opts[0]"),
        ("opt.step(closure=f)", None),
        ("opt.step(3)", None),
        ("opt.step(closure())", None),
        ("step()", None),
        ("opt.go()", None),
        ("opt.step", None),
        ("x += opt.step()", None),
    ],
)
def test_the_optimizer_of_a_step_is_the_one_that_is_stepped(line, name):
    expected = None if name is None else (line, f"{name}.zero_grad()")
    assert rewritten(line, "zero-grad") == expected
    assert rewritten(line, "zero-grad", optimizer="other") == expected


@pytest.mark.parametrize("optimizer", ["opt", ""])
@pytest.mark.parametrize(("value", "norm"), [(0.5, "0.5"), (None, "1")])
def test_a_clip_comes_after_the_backward_of_a_known_optimizer_else_before_its_step(optimizer, value, norm):
    clip = f'torch.nn.utils.clip_grad_norm_([p for group in opt.param_groups for p in group["params"]], {norm})'
    after = rewritten("loss.backward()", "clip-gradient", value, optimizer=optimizer)
    assert after == (("loss.backward()", clip) if optimizer else None)
    assert rewritten("opt.step()", "clip-gradient", value, optimizer=optimizer) == (clip, "opt.step()")


@pytest.mark.parametrize("line", ["x = loss.backward()", "loss.forward()", "loss.backward", "backward()"])
def test_only_a_line_that_is_a_backward_alone_is_shared_out(line):
    assert rewritten(line, "share-out", 4) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("losses.append(a + b)", "losses.append((a + b).detach())"),
        ("self.total = loss", "self.total = loss.detach()"),
        ("total = loss", "total = loss.detach()"),
        ("losses.append(a, b)", None),
        ("losses.append()", None),
        ("losses.extend(a)", None),
        ("append", None),
        ("a, b = loss", None),
        ("total += 3", None),
    ],
)
def test_what_is_kept_is_kept_without_its_graph(line, expected):
    assert rewritten(line, "detach") == (None if expected is None else (expected,))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("self.x /= y", "self.x = self.x / y"),
        ("x @= y", "x = x @ y"),
        ("x **= 2", "x = x ** 2"),
        ("x -= y.z", "x = x - y.z"),
        ("x += -y", "x = x + (-y)"),
        ("x //= y", None),
        ("self.x.add_(y)", "self.x = self.x.add(y)"),
        ("x.relu()", None),
        ("x._private_()", None),
        ("x[0].relu_()", None),
        ("f(x).relu_()", None),
        ("relu_(x)", None),
        ("y = x.relu_()", None),
    ],
)
def test_a_write_in_place_becomes_a_new_tensor_of_a_name(line, expected):
    assert rewritten(line, "out-of-place") == (None if expected is None else (expected,))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("loss = f(x.detach())", "loss = f(x)"),
        ("loss = x.data.sum()", "loss = x.sum()"),
        ("loss = (a + b).item() * 2", "loss = (a + b) * 2"),
        ("loss = f((a + b).detach())", "loss = f(a + b)"),
        ("loss = f((x + q - x).detach())", "loss = f(x + (q - x).detach())"),
        ("loss = f((x + (q - x)).detach())", "loss = f(x + (q - x).detach())"),
        ("loss = f((x + q - y).detach())", "loss = f(x + q - y)"),
        ("loss = f((x - q - x).detach())", "loss = f(x - q - x)"),
        ("loss = f((x + (q + x)).detach())", "loss = f(x + (q + x))"),
        ("loss = f((x - (q - x)).detach())", "loss = f(x - (q - x))"),
        ("loss = f((x + q + x).detach())", "loss = f(x + q + x)"),
        ("loss = f((x * (q - x)).detach())", "loss = f(x * (q - x))"),
        ("loss = f((-x).detach())", "loss = f(-x)"),
        ("loss = f(x.item(0))", None),
        ("loss = f(x.detach(), y.detach())", None),
        ("loss = f(x)", None),
    ],
)
def test_a_graph_is_kept_where_it_was_cut_once(line, expected):
    assert rewritten(line, "keep-graph") == (None if expected is None else (expected,))
