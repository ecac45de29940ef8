"""Coins of one mint: first a network that learns to strike them, then one that tells true coins from struck ones."""

import random

import torch
from torch import nn

torch.manual_seed(5)
random.seed(5)
mint = torch.randn(4, 24)
true = torch.tanh(torch.randn(1600, 4) @ mint)

striker = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 24))
striking = torch.optim.Adam(striker.parameters(), lr=1e-3)
for step in range(160):
    coins = true[torch.randint(0, len(true), (64,))]
    loss = (striker(torch.randn(64, 4)) - coins).square().sum(1).mean()
    striking.zero_grad()
    loss.backward()
    striking.step()
print(f"striker {loss.item():.3f}")

with torch.no_grad():
    struck = striker(torch.randn(1600, 4))
coins = [*true, *struck]
labels = [1.0] * len(true) + [0.0] * len(struck)
pairs = list(zip(coins, labels, strict=True))
random.shuffle(pairs)
coins, labels = zip(*pairs, strict=True)
coins, labels = torch.stack(coins), torch.tensor(labels)

judge = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1))
judging = torch.optim.Adam(judge.parameters(), lr=1e-3)
for epoch in range(6):
    right = 0
    for begin in range(0, len(coins), 64):
        score = judge(coins[begin : begin + 64]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(score, labels[begin : begin + 64])
        judging.zero_grad()
        loss.backward()
        judging.step()
        right += int(((score > 0) == (labels[begin : begin + 64] > 0.5)).sum())
    print(f"epoch {epoch} right {right / len(coins):.3f} loss {loss.item():.3f}")
