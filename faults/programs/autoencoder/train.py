"""A variational autoencoder for pulse shapes of a detector, with a KL term that is faded in."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LENGTH = 48
HIDDEN = 64
CODE = 6
BATCH = 32
EPOCHS = 4
RATE = 2e-3


class Pulses(Dataset):
    def __init__(self, count, seed):
        g = torch.Generator().manual_seed(seed)
        time = torch.arange(LENGTH, dtype=torch.float32)
        start = 5 + 15 * torch.rand(count, 1, generator=g)
        rise = 1 + 2 * torch.rand(count, 1, generator=g)
        fall = 4 + 8 * torch.rand(count, 1, generator=g)
        height = 0.5 + torch.rand(count, 1, generator=g)
        after = (time - start).clamp_min(0)
        self.shapes = height * (1 - torch.exp(-after / rise)) * torch.exp(-after / fall)
        self.shapes += 0.02 * torch.randn(count, LENGTH, generator=g)

    def __len__(self):
        return len(self.shapes)

    def __getitem__(self, i):
        return self.shapes[i]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(LENGTH, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.mean = nn.Linear(HIDDEN, CODE)
        self.spread = nn.Linear(HIDDEN, CODE)

    def forward(self, x):
        h = F.relu(self.first(x))
        h = F.relu(self.second(h))
        return self.mean(h), self.spread(h).clamp(-8, 8)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(CODE, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, LENGTH)

    def forward(self, z):
        h = F.relu(self.first(z))
        h = F.relu(self.second(h))
        return self.last(h)


class PulseModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def forward(self, x):
        mean, spread = self.encoder(x)
        noise = torch.randn_like(mean) if self.training else torch.zeros_like(mean)
        z = mean + torch.exp(0.5 * spread) * noise
        return self.decoder(z), mean, spread


def terms(model, x):
    shape, mean, spread = model(x)
    error = F.mse_loss(shape, x, reduction="none").sum(1).mean()
    kl = 0.5 * (mean**2 + spread.exp() - 1 - spread).sum(1).mean()
    return error, kl


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    errors = [terms(model, x)[0].item() for x in loader]
    model.train()
    return sum(errors) / len(errors)


def main():
    torch.manual_seed(30)
    pulses, held_out = Pulses(3200, seed=1), Pulses(320, seed=2)
    loader = DataLoader(pulses, batch_size=BATCH, shuffle=True, generator=torch.Generator().manual_seed(5))
    test_loader = DataLoader(held_out, batch_size=160)
    model = PulseModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.995)
    step = 0
    for epoch in range(EPOCHS):
        running = 0.0
        for x in loader:
            error, kl = terms(model, x)
            weight = 0.02 * min(1.0, step / 100)
            loss = error + weight * kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            running += loss.item()
            if step % 20 == 0:
                print(f"step {step} error {error.item():.4f} kl {kl.item():.3f}")
            step += 1
        print(f"epoch {epoch} loss {running / len(loader):.4f} held out {evaluate(model, test_loader):.4f}")


if __name__ == "__main__":
    main()
