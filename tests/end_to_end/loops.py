"""Training loops that are not the usual one, over the batches of trained.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from tests.end_to_end.trained import ROWS, STEPS, WIDTH, Fault, Net, Trained, batches, disturbed, plainly, seeded


def adversarial(fault: Fault) -> Trained:
    """Two modules with an optimizer each; a fake is used in both updates."""
    seeded()
    generator, critic = Net(), nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    first, second = torch.optim.Adam(generator.parameters(), lr=1e-3), torch.optim.SGD(critic.parameters(), lr=1e-3)
    done = Trained(modules=[generator, critic], optimizers=[first, second])
    for step, (x, y) in enumerate(batches(fault)):
        disturbed(fault, step, first)
        fake = generator(x)
        second.zero_grad()
        (critic(fake.detach()).mean() - critic(y).mean()).backward()
        second.step()
        first.zero_grad()
        loss = F.mse_loss(fake, y) - 1e-3 * critic(fake).mean()
        loss.backward()
        first.step()
        done.losses.append(loss.item())
    return done


def jointly(fault: Fault) -> Trained:
    """One loss, an optimizer for the body and one for the rest."""
    seeded()
    model = Net()
    rest = [p for name, p in model.named_parameters() if not name.startswith("body")]
    optimizers = [torch.optim.Adam(model.body.parameters(), lr=1e-3), torch.optim.SGD(rest, lr=1e-3, momentum=0.9)]
    done = Trained(modules=[model], optimizers=optimizers)
    for x, y in batches(fault):
        model.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        done.losses.append(loss.item())
    return done


def with_closure(fault: Fault) -> Trained:
    """LBFGS calls its closure as often as it likes."""
    seeded()
    model = nn.Linear(WIDTH, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.02, max_iter=2)
    done = Trained(modules=[model], optimizers=[optimizer])
    for x, y in batches(fault):

        def closure(x: Tensor = x, y: Tensor = y) -> Tensor:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            return loss

        done.losses.append(optimizer.step(closure).item())
    return done


def scaled(fault: Fault) -> Trained:
    """bfloat16 autocast with a GradScaler, both on the CPU."""
    seeded()
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=20)
    done = Trained(modules=[model], optimizers=[optimizer], others=[scaler])
    for step, (x, y) in enumerate(batches(fault)):
        disturbed(fault, step, optimizer)
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.mse_loss(model(x).float(), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        done.losses.append(loss.item())
    return done


class Carrying(nn.Module):
    """A recurrent cell whose hidden state goes on from batch to batch, in an attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head, self.hidden = nn.GRUCell(WIDTH, 12), nn.Linear(12, 1), torch.zeros(ROWS, 12)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.cell(x, self.hidden)
        self.hidden = hidden.detach()
        return self.head(hidden)


def carried(fault: Fault) -> Trained:
    """A hidden state that no batch brings along."""
    return plainly(lambda p: torch.optim.Adam(p, lr=1e-3), fault, net=Carrying)


class Kept(Dataset[Any]):
    """The batches as single samples."""

    def __init__(self, fault: Fault) -> None:
        self.x, self.y = (torch.cat(part) for part in zip(*batches(fault), strict=True))

    def __len__(self) -> int:
        return STEPS * ROWS

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.x[index], self.y[index]


def loaded(fault: Fault) -> Trained:
    """A DataLoader with two workers."""
    seeded()
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    done = Trained(modules=[model], optimizers=[optimizer])
    for step, (x, y) in enumerate(DataLoader(Kept(fault), batch_size=ROWS, num_workers=2)):
        disturbed(fault, step, optimizer)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        done.losses.append(loss.item())
    return done


def built_twice(fault: Fault) -> Trained:
    """The optimizer is made again in the middle, as fine-tuning scripts do; the first one is gone."""
    seeded()
    model = Net()
    done = Trained(modules=[model])
    for step, (x, y) in enumerate(batches(fault)):
        if step in (0, STEPS // 2):
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            done.optimizers = [optimizer]
        disturbed(fault, step, optimizer)
        if fault != "stale":
            optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        done.losses.append(loss.item())
    return done
