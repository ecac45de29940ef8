"""Houses from a register: the price (regression) and the energy class (classification) from one shared trunk."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, Subset

EPOCHS = 5
BATCH = 32
RATE = 2e-3
CLASSES = 4


def records(count=3200):
    g = torch.Generator().manual_seed(11)
    area = 40 + 160 * torch.rand(count, generator=g)
    rooms = (area / 30 + torch.randn(count, generator=g)).round().clamp(1, 8)
    year = 1900 + 120 * torch.rand(count, generator=g)
    distance = 0.2 + 20 * torch.rand(count, generator=g)
    insulation = torch.rand(count, generator=g)
    rest = torch.randn(count, 3, generator=g)
    price = 1.8 * area * (1 + 0.2 * rooms / 8) / (1 + 0.03 * distance) + 0.4 * (year - 1900) + 8 * torch.randn(count, generator=g)
    energy = (2.5 * insulation + (year - 1900) / 60 + 0.3 * torch.randn(count, generator=g)).long().clamp(0, CLASSES - 1)
    table = torch.cat([torch.stack([area, rooms, year, distance, insulation], 1), rest], 1)
    return table, price, energy


class Houses(Dataset):
    def __init__(self):
        self.table, self.price, self.energy = records()
        self.mean, self.std = self.table[:2560].mean(0), self.table[:2560].std(0)
        self.level, self.spread = self.price[:2560].mean(), self.price[:2560].std()

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        row = (self.table[i] - self.mean) / self.std
        price = (self.price[i] - self.level) / self.spread
        return row, price, self.energy[i]


class Trunk(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.norm = nn.LayerNorm(width)
        self.second = nn.Linear(width, width)
        self.drop = nn.Dropout(0.05)

    def forward(self, x):
        h = F.relu(self.norm(self.first(x)))
        return h + self.drop(F.relu(self.second(h)))


class Register(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        self.price = nn.Linear(48, 1)
        self.energy = nn.Linear(48, CLASSES)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h).squeeze(1), self.energy(h)


def both_losses(model, row, price, energy):
    guess, logits = model(row)
    return F.mse_loss(guess, price), F.cross_entropy(logits, energy)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    squares, hits, count = 0.0, 0, 0
    for row, price, energy in loader:
        guess, logits = model(row)
        squares += F.mse_loss(guess, price, reduction="sum").item()
        hits += (logits.argmax(1) == energy).sum().item()
        count += len(row)
    model.train()
    return squares / count, hits / count


def main():
    torch.manual_seed(0)
    houses = Houses()
    train_set, test_set = Subset(houses, range(2560)), Subset(houses, range(2560, 3200))
    loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, generator=torch.Generator().manual_seed(1))
    test_loader = DataLoader(test_set, batch_size=128)
    model = Register()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS * len(loader), eta_min=1e-4)
    step = 0
    for epoch in range(EPOCHS):
        for row, price, energy in loader:
            price_loss, energy_loss = both_losses(model, row, price, energy)
            loss = price_loss + 0.5 * energy_loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            if step % 20 == 0:
                print(f"step {step} price {price_loss.item():.4f} energy {energy_loss.item():.4f} lr {schedule.get_last_lr()[0]:.2e}")
            step += 1
        error, accuracy = evaluate(model, test_loader)
        print(f"epoch {epoch} price error {error:.4f} energy accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
