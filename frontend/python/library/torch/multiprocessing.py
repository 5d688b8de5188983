def set_start_method(method, force=False):
    pass


set_sharing_strategy = set_start_method


def get_start_method(allow_none=False):
    return "fork"


def cpu_count():
    return 1
