"""Which stop a passenger rides to next, from the stops of the day so far."""

import torch
from torch import nn

torch.manual_seed(4)
STOPS, NONE = 40, 0
onward = torch.randperm(STOPS - 1) + 1
days = []
for _ in range(1500):
    day = [int(torch.randint(1, STOPS, ()))]
    for _ in range(int(torch.randint(3, 14, ()))):
        likely = torch.rand(()) < 0.9
        day.append(int(onward[day[-1] - 1]) if likely else int(torch.randint(1, STOPS, ())))
    days.append(torch.tensor(day))


class Riding(nn.Module):
    def __init__(self):
        super().__init__()
        self.stop = nn.Embedding(STOPS, 32, padding_idx=NONE)
        self.place = nn.Embedding(16, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(32, STOPS)

    def forward(self, ridden):
        x = self.stop(ridden) + self.place.weight[: ridden.shape[1]].flip(0)
        x = self.encoder(x, src_key_padding_mask=ridden == NONE)
        return self.head(x[:, -1])


def filled(rides):
    return nn.utils.rnn.pad_sequence(rides, batch_first=True, padding_value=NONE)


model = Riding()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    right = 0
    for picked in torch.randperm(len(days)).split(50):
        ridden = filled([days[i][:-1] for i in picked])
        target = torch.stack([days[i][-1] for i in picked])
        scores = model(ridden)
        loss = nn.functional.cross_entropy(scores, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == target).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right / len(days):.3f}")
