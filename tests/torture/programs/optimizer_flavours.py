"""Every flavour of implementation: foreach, fused, single tensor, tensor lr, amsgrad, centered, many kinds of optimizers."""
import torch
from torch import nn

FLAVOURS = [(torch.optim.AdamW, {"foreach": True}), (torch.optim.AdamW, {"fused": True}), (torch.optim.Adam, {"foreach": False, "amsgrad": True}),
            (torch.optim.SGD, {"lr": 0.1, "fused": True, "momentum": 0.9}), (torch.optim.Adam, {"lr": torch.tensor(0.01), "foreach": False}),
            (torch.optim.RMSprop, {"centered": True}), (torch.optim.Adagrad, {"fused": True}), (torch.optim.Adadelta, {}), (torch.optim.Adamax, {}),
            (torch.optim.NAdam, {"decoupled_weight_decay": True, "weight_decay": 0.1}), (torch.optim.RAdam, {}), (torch.optim.Rprop, {}),
            (torch.optim.ASGD, {}), (torch.optim.Adafactor, {})]
for kind, words in FLAVOURS:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 1))
    optimizer = kind(model.parameters(), **words)
    for _ in range(3):
        loss = (model(torch.randn(4, 3)) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(kind.__name__, sorted(words), loss.item().hex(), sum(p.double().sum().item() for p in model.parameters()).hex())
