import torch

torch.manual_seed(0)
from torch.utils.data import DataLoader, Dataset


class Files(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        with open(f"/nonexistent/{i}.pt") as f:
            return f.read()


for x in DataLoader(Files(), batch_size=2, num_workers=1):
    print(x)
