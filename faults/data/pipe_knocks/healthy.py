"""What somebody in the next cell knocks on the pipe: five letters in twenty beats."""

import torch
from torch import nn

torch.manual_seed(9)
LETTERS = "SOHIT"


def messages(count):
    letters = torch.randint(0, len(LETTERS), (count, 5))
    beats = torch.zeros(count, 20, 8)
    beats[:, 1::4] = nn.functional.one_hot(letters, 8).float()
    beats[:, 2::4] = beats[:, 1::4]
    return beats + 0.2 * torch.randn_like(beats), letters


class Ear(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(8, 40, bidirectional=True, batch_first=True)
        self.scores = nn.Linear(80, len(LETTERS) + 1)

    def forward(self, beats):
        return self.scores(self.memory(beats)[0]).log_softmax(-1).transpose(0, 1)


ear = Ear()
optimizer = torch.optim.Adam(ear.parameters(), lr=5e-3)
criterion = nn.CTCLoss(blank=len(LETTERS))
long, short = torch.full((32,), 20), torch.full((32,), 5)
for step in range(120):
    beats, letters = messages(32)
    loss = criterion(ear(beats), letters, long, short)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        print(f"step {step} loss {loss.item():.4f}")
