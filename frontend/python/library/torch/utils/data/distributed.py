from torch.utils.data import Sampler as DistributedSampler
