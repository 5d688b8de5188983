# Random numbers and texts that no seed gives (random).
from random import SystemRandom

_system = SystemRandom()
randbits = _system.getrandbits
choice = _system.choice
DEFAULT_ENTROPY = 32


def randbelow(exclusive_upper_bound):
    if exclusive_upper_bound <= 0:
        raise ValueError("Upper bound must be positive.")
    return _system._randbelow(exclusive_upper_bound)


def compare_digest(a, b):
    return a == b


def token_hex(nbytes=None):
    digits = 2 * (DEFAULT_ENTROPY if nbytes is None else nbytes)
    return "%0*x" % (digits, _system.getrandbits(4 * digits)) if digits else ""


def token_urlsafe(nbytes=None):
    length = -(-(DEFAULT_ENTROPY if nbytes is None else nbytes) * 4 // 3)
    return "".join(choice("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") for _ in range(length))
