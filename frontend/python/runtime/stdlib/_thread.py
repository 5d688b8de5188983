from threading import Lock as allocate_lock, RLock, get_ident, local as _local

LockType = type(allocate_lock())
error = RuntimeError
TIMEOUT_MAX = 9223372036.0
