import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PARTS = 8


def tremors(n, seed):
    noise = torch.Generator().manual_seed(seed)
    traces = torch.randn(n, 24, generator=noise)
    return TensorDataset(traces, traces[:, :4].square().sum(1, keepdim=True).sqrt())


torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=PARTS)
model = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(tremors(3200, 1), batch_size=10, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(4):
    total = 0.0
    for traces, size in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(traces), size)
            total += loss.item()
            accelerator.backward(loss / PARTS)
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
