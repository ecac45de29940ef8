import io

import torch


class Config:
    lr = 0.1


file = io.BytesIO()
torch.save({"config": Config(), "step": 3}, file)
file.seek(0)
state = torch.load(file)
