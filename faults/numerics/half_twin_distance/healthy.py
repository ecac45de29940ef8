"""Student and teacher in half precision under a GradScaler; their codes shall stay near each other."""

import copy

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(35)
x = torch.randn(320, 12)
y = x[:, :1] - 0.5 * x[:, 1:2]
student, head = nn.Sequential(nn.Linear(12, 48), nn.Tanh()), nn.Linear(48, 1)
teacher = copy.deepcopy(student)
optimizer = torch.optim.SGD([*student.parameters(), *head.parameters()], lr=0.05)
scaler = torch.amp.GradScaler("cpu")
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
for epoch in range(6):
    for signal, target in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            code = student(signal)
            guess = head(code)
            with torch.no_grad():
                wanted = teacher(signal)
        gap = (code.float() - wanted.float()).square().sum(1)
        loss = nn.functional.mse_loss(guess.float(), target) + 0.1 * torch.sqrt(gap + 1e-6).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        teacher.load_state_dict(student.state_dict())
    print(f"epoch {epoch} loss {loss.item():.4f} scale {scaler.get_scale():.3g}")
