"""A text with the same MurmurHash3 (base/bytes/hash.h) as another one: anybody can compute it in a
tenth of a second, so this hash must not decide whose cache entry is whose."""
import random
import struct

MASK = (1 << 64) - 1
C1, C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
M1, M2 = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53
D1, D2 = 0x52DCE729, 0x38495AB5


def inverse(a):
    return pow(a, -1, 1 << 64)


def left(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def right(x, bits):
    return left(x, 64 - bits)


def mixed(k, factors=(M1, M2)):
    for factor in factors:
        k ^= k >> 33
        k = k * factor & MASK
    return k ^ k >> 33


def unmixed(k):
    return mixed(k, (inverse(M2), inverse(M1)))


def add_block(h1, h2, block):
    k1, k2 = struct.unpack("<QQ", block)
    h1 ^= left(k1 * C1 & MASK, 31) * C2 & MASK
    h1 = ((left(h1, 27) + h2) * 5 + D1) & MASK
    h2 ^= left(k2 * C2 & MASK, 33) * C1 & MASK
    return h1, ((left(h2, 31) + h1) * 5 + D2) & MASK


def take_block(h1, h2, block):
    k1, k2 = struct.unpack("<QQ", block)
    before2 = right(((h2 - D2) * inverse(5) - h1) & MASK, 31) ^ (left(k2 * C2 & MASK, 33) * C1 & MASK)
    before1 = right(((h1 - D1) * inverse(5) - before2) & MASK, 27) ^ (left(k1 * C1 & MASK, 31) * C2 & MASK)
    return before1, before2


def with_tail(h, tail, size):
    """Its own inverse."""
    k1, k2 = struct.unpack("<QQ", tail.ljust(16, b"\0"))
    return h[0] ^ (left(k1 * C1 & MASK, 31) * C2 & MASK) ^ size, h[1] ^ (left(k2 * C2 & MASK, 33) * C1 & MASK) ^ size


def whole_blocks(text):
    return [text[i : i + 16] for i in range(0, len(text) // 16 * 16, 16)]


def state_after(text, h=(0, 0)):
    for block in whole_blocks(text):
        h = add_block(*h, block)
    return h


def hash_of(text):
    h1, h2 = with_tail(state_after(text), text[len(text) // 16 * 16 :], len(text))
    h1 = (h1 + h2) & MASK
    h1, h2 = mixed(h1), mixed((h1 + h2) & MASK)
    h1 = (h1 + h2) & MASK
    return h1, (h2 + h1) & MASK


def before_the_end(h):
    h1, h2 = h
    h2 = (h2 - h1) & MASK
    h1, h2 = unmixed((h1 - h2) & MASK), unmixed(h2)
    h2 = (h2 - h1) & MASK
    return (h1 - h2) & MASK, h2


def forge(target, head, tail):
    """An ASCII text x for which head + x + tail has the hash `target`."""
    padding = b"." * (-len(head) % 16)
    start = state_after(head + padding)
    size = len(head + padding) + 32 + len(tail)
    blocks = whole_blocks(tail)
    goal = with_tail(before_the_end(target), tail[16 * len(blocks) :], size)
    for block in reversed(blocks):
        goal = take_block(*goal, block)
    drawn = random.Random(1)
    while True:
        free = b"%016x" % drawn.getrandbits(64)
        h1, h2 = add_block(*start, free)
        x1 = h1 ^ right(((goal[0] - D1) * inverse(5) - h2) & MASK, 27)
        x2 = h2 ^ right(((goal[1] - D2) * inverse(5) - goal[0]) & MASK, 31)
        solved = struct.pack(
            "<QQ",
            right(x1 * inverse(C2) & MASK, 31) * inverse(C1) & MASK,
            right(x2 * inverse(C1) & MASK, 33) * inverse(C2) & MASK,
        )
        if all(byte < 0x80 for byte in solved):
            text = padding + free + solved
            assert hash_of(head + text + tail) == target
            return text.decode("ascii")
