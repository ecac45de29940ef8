"""Marks the notes of a song that end a phrase: those before a pause, which both directions of time must be read for."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

LENGTH, SOUNDS = 24, 5


def songs(count):
    draw = torch.Generator().manual_seed(12)
    notes = torch.randn(count, LENGTH, SOUNDS, generator=draw)
    loud = notes[..., 0] > 0
    quiet_next = torch.cat([notes[:, 1:, 1], torch.zeros(count, 1)], 1) < 0
    return notes, (loud & quiet_next).long()


class TwoWays(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.onward = nn.GRU(SOUNDS, width, batch_first=True)
        self.backward_in_time = nn.GRU(SOUNDS, width, batch_first=True)
        self.out = nn.Linear(2 * width, 2)

    def forward(self, notes):
        ahead, _ = self.onward(notes)
        behind, _ = self.backward_in_time(notes.flip(1))
        return self.out(torch.cat([ahead, behind], -1))


def main():
    torch.manual_seed(5)
    model = TwoWays()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        total, right = 0.0, 0.0
        for notes, ends in DataLoader(TensorDataset(*songs(512)), batch_size=32, shuffle=True):
            scores = model(notes)
            loss = nn.functional.cross_entropy(scores.transpose(1, 2), ends)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() / 16
            right += (scores.argmax(-1) == ends).float().mean().item() / 16
        print(f"epoch {epoch} loss {total:.4f} right {right:.3f}")


main()
