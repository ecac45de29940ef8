"""Own autograd functions: mark_dirty in place, once_differentiable, needs_input_grad, non-differentiable outputs, setup_context with vmap."""
import torch
from torch import nn
from torch.autograd.function import once_differentiable


class InPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Multiply(torch.autograd.Function):
    asked = []

    @staticmethod
    def forward(ctx, a, b, power):
        ctx.save_for_backward(a, b)
        ctx.power = power
        where = (a > 0).long()
        ctx.mark_non_differentiable(where)
        ctx.set_materialize_grads(False)
        return (a * b) ** power, where

    @staticmethod
    @once_differentiable
    def backward(ctx, grad, _):
        a, b = ctx.saved_tensors
        Multiply.asked.append(ctx.needs_input_grad)
        inner = grad * ctx.power * (a * b) ** (ctx.power - 1)
        return inner * b if ctx.needs_input_grad[0] else None, inner * a if ctx.needs_input_grad[1] else None, None


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x ** 3, 3 * x ** 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx, grad, _):
        return grad * ctx.saved_tensors[0]


torch.manual_seed(0)
model = nn.Linear(4, 4)
gain = nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([*model.parameters(), gain], lr=0.02)
for step in range(4):
    h = InPlace.apply(model(torch.randn(5, 4)))
    out, where = Multiply.apply(h, gain if step % 2 else torch.ones(4), 2)
    loss = out.mean() + Cube.apply(gain)[0].mean() + torch.vmap(lambda v: Cube.apply(v)[0])(h).mean() * 0.01
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), where.sum().item(), Multiply.asked[-1])
a = torch.ones(2, dtype=torch.double, requires_grad=True)
print(torch.autograd.gradcheck(lambda v: Multiply.apply(v, torch.ones(2, dtype=torch.double), 2)[0], (a,), check_undefined_grad=False))
try:
    torch.autograd.grad(torch.autograd.grad(Multiply.apply(gain, gain, 2)[0].sum(), gain, create_graph=True)[0].sum(), gain)
except RuntimeError as error:
    print("once_differentiable" in str(error))
