# Which parts of the library are used is logged for whoever has asked for it, which nobody can here.
__all__ = ["_log_api_usage_once"]


def _log_api_usage_once(obj):
    pass
