"""Fine-tuning: a pretrained backbone is frozen and kept in eval mode, a new head learns; later the last block is thawed with a smaller rate."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU())
        self.head = nn.Linear(16, 4)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x).mean((2, 3)))


model = Net()
pretrained = {k: v + 0.01 for k, v in model.backbone.state_dict().items() if v.is_floating_point()}
model.backbone.load_state_dict(pretrained, strict=False)
for p in model.backbone.parameters():
    p.requires_grad_(False)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
y = torch.randint(0, 4, (640,))
x = torch.randn(640, 3, 10, 10) + torch.randn(4, 3, 1, 1)[y]
for epoch in range(6):
    model.train()
    if epoch == 4:
        for p in model.backbone[3].parameters():
            p.requires_grad_(True)
        opt.add_param_group({"params": list(model.backbone[3].parameters()), "lr": 1e-4})
    for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        loss = F.cross_entropy(model(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x).argmax(1) == y).float().mean().item())
