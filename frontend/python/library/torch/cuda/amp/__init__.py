import torch


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("cuda", dtype, enabled)


def custom_fwd(fwd=None, **kwargs):
    return fwd if fwd is not None else lambda f: f


custom_bwd = custom_fwd


class GradScaler:
    def __init__(self, *args, **kwargs):
        pass

    def is_enabled(self):
        return False
