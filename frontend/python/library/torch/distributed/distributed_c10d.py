from torch.distributed import ReduceOp, all_gather, all_reduce, get_rank, get_world_size, is_initialized
