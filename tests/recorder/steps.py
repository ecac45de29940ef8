"""Real training steps to record: a small tracer, and programs that use what training programs use."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from debugtracer.recorder.capsule.program import Program
from debugtracer.trace.op import OpMeta


class Trace(TorchDispatchMode):
    """The smallest tracer: calls the observers around each op."""

    def __init__(self, *observers: Any) -> None:
        super().__init__()
        self.observers, self.index = observers, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for observer in self.observers:
            observer.before(func, args, kwargs)
        out = func(*args, **kwargs)
        meta = OpMeta(index=self.index, op=func._schema.name, overload=func._overloadname)
        self.index += 1
        for observer in self.observers:
            observer.after(func, args, kwargs, out, meta)
        return out


class Step:
    """A model, its optimizer and a loss on a batch."""

    def __init__(
        self,
        model: nn.Module,
        loss: Callable[..., torch.Tensor],
        batch: list[torch.Tensor],
        optimizer: Any = None,
        warm: int = 1,
    ) -> None:
        self.model, self.loss, self.batch = model, loss, batch
        self.optimizer = (
            optimizer(model.parameters()) if optimizer else torch.optim.AdamW(model.parameters(), foreach=True)
        )
        for _ in range(warm):
            self.run()

    def run(self, program: Program | None = None) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.loss(self.model, *self.batch)
        loss.backward()
        if program:
            program.target("loss", loss)
            for name, parameter in self.model.named_parameters():
                program.target(f"gradient {name}", parameter.grad)
        self.optimizer.step()
        return loss

    def record(self) -> Program:
        """One step, recorded; the model has moved on afterwards."""
        program = Program()
        for index, tensor in enumerate(self.batch):
            program.name(tensor, f"batch[{index}]")
        for name, parameter in self.model.named_parameters():
            program.name(parameter, f"parameter {name}")
        with Trace(program):
            self.run(program)
            for name, parameter in self.model.named_parameters():
                program.target(f"updated {name}", parameter.detach())
        return program


class Cubed(torch.autograd.Function):
    """A function of the user's own, with its own derivative."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


def gpt2() -> Step:
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=97, n_positions=32))
    ids = torch.randint(0, 97, (3, 16))
    return Step(model, lambda m, x: m(input_ids=x, labels=x).loss, [ids])


def cnn() -> Step:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Dropout(0.3),
        nn.Flatten(),
        nn.Linear(8 * 49, 10),
    )
    return Step(
        model, lambda m, x, y: F.cross_entropy(m(x), y), [torch.randn(5, 3, 16, 16), torch.randint(0, 10, (5,))]
    )


def autocast() -> Step:
    def loss(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(x), y)

    model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
    return Step(
        model, loss, [torch.randn(6, 16), torch.randint(0, 4, (6,))], lambda p: torch.optim.AdamW(p, fused=True)
    )


class Checkpointed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(16, 16), nn.Dropout(0.5), nn.Tanh()) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def checkpointed() -> Step:
    return Step(Checkpointed(), lambda m, x: m(x).pow(2).mean(), [torch.randn(4, 16)])


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids))


def tied() -> Step:
    def loss(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())

    return Step(Tied(), loss, [torch.randint(0, 11, (4, 5))], lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


def fourier() -> Step:
    def loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.fft.rfft(model(x)) * torch.fft.rfft(x).conj()
        return (torch.fft.irfft(spectrum, n=16) ** 2).mean() + spectrum.abs().mean()

    return Step(nn.Linear(16, 16), loss, [torch.randn(4, 16)])


def custom_function() -> Step:
    return Step(nn.Linear(8, 8), lambda m, x: Cubed.apply(m(x)).mean(), [torch.randn(4, 8)])


def written_batch() -> Step:
    def loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        x.mul_(1.25).clamp_(-2, 2)
        return model(x).pow(2).mean()

    return Step(nn.Linear(8, 8), loss, [torch.randn(4, 8)])


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.head = nn.LSTM(8, 16, batch_first=True), nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0])


def recurrent() -> Step:
    return Step(Recurrent(), lambda m, x: m(x).pow(2).mean(), [torch.randn(3, 7, 8)])


class Scaled:
    """An optimizer behind a GradScaler."""

    def __init__(self, parameters: Any) -> None:
        self.scaler, self.optimizer = torch.amp.GradScaler("cpu", init_scale=128.0), torch.optim.SGD(parameters, lr=0.1)

    def zero_grad(self) -> None:
        self.optimizer.zero_grad()

    def step(self) -> None:
        self.scaler.step(self.optimizer)
        self.scaler.update()


def scaled() -> Step:
    model = nn.Linear(4, 4)
    optimizer = Scaled(model.parameters())

    def loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", torch.float16):
            return optimizer.scaler.scale(model(x).float().pow(2).mean())

    return Step(model, loss, [torch.randn(5, 4)], lambda _: optimizer)


STEPS = {
    f.__name__: f
    for f in (gpt2, cnn, autocast, checkpointed, tied, fourier, custom_function, written_batch, recurrent, scaled)
}


def recorded(name: str) -> Program:
    """A recorded step by name, seeded."""
    torch.manual_seed(7)
    return STEPS[name]().record()


def facts(**changes: Any) -> Any:
    """Facts of an incident at step 1204."""
    from debugtracer.trace.incident import IncidentFacts
    from debugtracer.trace.step import StepRef

    return IncidentFacts(ref=StepRef(iteration=1204, step=1204), symptom="nan_loss", loss="NaN", **copy.copy(changes))
