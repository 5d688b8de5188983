from threading import Lock as allocate_lock, RLock, TIMEOUT_MAX, get_ident, get_native_id, local as _local, stack_size

LockType = type(allocate_lock())
allocate = allocate_lock
error = RuntimeError
