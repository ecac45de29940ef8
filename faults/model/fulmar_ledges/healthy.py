"""Fulmars on a ledge, told apart by what was measured: residents, visitors and the few that are sick."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = ("resident", "visitor", "sick")
torch.manual_seed(29)


def birds(number):
    """Measures of some birds and their kinds, one in forty sick."""
    kinds = torch.multinomial(torch.tensor([0.6, 0.375, 0.025]), number, replacement=True)
    middles = torch.tensor([[0.0, 0.0, 0.2, 0.0], [1.2, 0.4, 0.0, 0.3], [0.5, 0.9, 0.9, 0.6]])
    return TensorDataset(middles[kinds] + 0.7 * torch.randn(number, 4), kinds)


def main():
    ledge, other_ledge = birds(2400), birds(1200)
    counts = torch.bincount(ledge.tensors[1], minlength=len(KINDS))
    weights = len(ledge) / (len(KINDS) * counts)
    loader = DataLoader(ledge, batch_size=64, shuffle=True)
    guess = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, len(KINDS)))
    criterion = nn.CrossEntropyLoss(weight=weights)
    optimizer = torch.optim.Adam(guess.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
    for epoch in range(8):
        for measures, kinds in loader:
            loss = criterion(guess(measures), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        with torch.no_grad():
            measures, kinds = other_ledge.tensors
            found = guess(measures).argmax(1)
        shares = [f"{name} {(found[kinds == k] == k).float().mean():.2f}" for k, name in enumerate(KINDS)]
        print(f"epoch {epoch} loss {loss.item():.4f} found {', '.join(shares)}")


main()
