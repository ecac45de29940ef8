"""Which of four grades an apple gets, from twelve measurements; the loss of the apples held out chooses the model."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
GRADES = 4
grades = torch.randint(GRADES, (900,))
apples = torch.randn(GRADES, 12)[grades] + 0.9 * torch.randn(900, 12)
picked = DataLoader(TensorDataset(apples[:700], grades[:700]), batch_size=35, shuffle=True)
held_out = DataLoader(TensorDataset(apples[700:], grades[700:]), batch_size=50)

model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, GRADES))
weigh = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
best, kept = float("inf"), None
for season in range(8):
    model.train()
    for fruit, grade in picked:
        loss = weigh(model(fruit), grade)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    held_out_loss = 0.0
    with torch.no_grad():
        for fruit, grade in held_out:
            held_out_loss += weigh(model(fruit), grade).item()
    print(f"season {season} held out {held_out_loss / len(held_out):.4f}")
    if held_out_loss < best:
        best, kept = held_out_loss, copy.deepcopy(model.state_dict())
model.load_state_dict(kept)
