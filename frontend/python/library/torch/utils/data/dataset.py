from torch.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
