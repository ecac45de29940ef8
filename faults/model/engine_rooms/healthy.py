"""Which of four rooms of a ship a microphone stands in, from short spectra; a test after every pass."""

import torch
from torch import nn

torch.manual_seed(21)
rooms = torch.randn(4, 24)
label = torch.randint(0, 4, (480,))
spectra = rooms[label] + 1.5 * torch.randn(480, 24)


class Ears(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Sequential(nn.Linear(24, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.3))
        self.room = nn.Linear(48, 4)

    def forward(self, x):
        return self.room(self.low(x))


ears = Ears()
optimizer = torch.optim.SGD(ears.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()


def learn():
    ears.train()
    for rows in torch.randperm(400).split(40):
        optimizer.zero_grad()
        loss = criterion(ears(spectra[rows]), label[rows])
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    ears.eval()
    return (ears(spectra[400:]).argmax(1) == label[400:]).float().mean().item()


for lap in range(6):
    print(f"pass {lap} loss {learn():.4f} test {test():.3f}")
