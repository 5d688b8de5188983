from torch.utils.data import DataLoader, default_collate
