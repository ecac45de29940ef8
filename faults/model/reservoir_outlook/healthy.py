"""Level of a reservoir over the next 12 days from the last 20, by an encoder and a decoder that goes day by day."""

import random

import torch
from torch import nn

PAST, AHEAD = 20, 12


def levels(count, seed):
    draw = torch.Generator().manual_seed(seed)
    days = torch.arange(PAST + AHEAD)
    phase, speed = torch.rand(count, 1, generator=draw) * 6.3, 0.2 + 0.2 * torch.rand(count, 1, generator=draw)
    whole = torch.sin(phase + speed * days) + 0.05 * torch.randn(count, PAST + AHEAD, generator=draw)
    return whole[:, :PAST, None], whole[:, PAST:, None]


class Outlook(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = nn.GRU(1, width, batch_first=True)
        self.cell = nn.GRUCell(1, width)
        self.out = nn.Linear(width, 1)

    def forward(self, past, ahead, teacher_forcing=0.5):
        state = self.encoder(past)[1][0]
        level, said = past[:, -1], []
        for day in range(ahead.shape[1]):
            state = self.cell(level, state)
            guess = self.out(state)
            said.append(guess)
            level = ahead[:, day] if random.random() < teacher_forcing else guess
        return torch.stack(said, 1)


def main():
    torch.manual_seed(3)
    random.seed(3)
    past, ahead = levels(512, 0)
    held_past, held_ahead = levels(64, 1)
    model = Outlook()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(5):
        model.train()
        for rows in torch.randperm(len(past)).split(32):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(past[rows], ahead[rows]), ahead[rows])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            error = nn.functional.mse_loss(model(held_past, held_ahead, teacher_forcing=0), held_ahead)
        print(f"epoch {epoch} held-out error {error:.4f}")


main()
