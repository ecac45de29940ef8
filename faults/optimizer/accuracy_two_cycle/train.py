"""Defect detector on sensor readings: full-batch gradient descent, accuracy on a held-out set to TensorBoard every step."""
import tempfile

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(11)
readings = torch.randn(900, 6) + 4.0
defect = (readings[:, 0] - readings[:, 1] + 1.5 * torch.randn(900) > 1.2).float()
x, y, held_x, held_y = readings[:600], defect[:600], readings[600:], defect[600:]

model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.18)
writer = SummaryWriter(tempfile.mkdtemp())

for step in range(120):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        accuracy = ((model(held_x).squeeze(1) > 0) == held_y.bool()).float().mean().item()
    writer.add_scalar("held_out/accuracy", accuracy, step)
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}, held-out accuracy {accuracy:.3f}")
writer.close()
