# The generators of numpy.random.default_rng(seed) and RandomState(seed), PCG64 and MT19937, seeded
# as numpy does. A network may be wired by what they draw.
import operator

_MASK32, _MASK64, _MASK128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


class _Hash:
    def __init__(self, constant, multiplier):
        self.constant, self.multiplier = constant, multiplier

    def __call__(self, value):
        value ^= self.constant
        self.constant = self.constant * self.multiplier & _MASK32
        value = value * self.constant & _MASK32
        return value ^ value >> 16


def _mixed(x, y):
    result = (0xCA01F9DD * x - 0x4973F715 * y) & _MASK32
    return result ^ result >> 16


def _state(seed):
    # SeedSequence(seed).generate_state(4, uint64)
    if seed < 0:
        raise ValueError("expected non-negative integer")
    words = [seed >> 32 * i & _MASK32 for i in range(max(4, (seed.bit_length() + 31) // 32))]
    hashed = _Hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(word) for word in words[:4]]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    for word in words[4:]:
        for target in range(4):
            pool[target] = _mixed(pool[target], hashed(word))
    hashed = _Hash(0x8B51F9DD, 0x58F38DED)
    halves = [hashed(pool[i % 4]) for i in range(8)]
    return [halves[2 * i] | halves[2 * i + 1] << 32 for i in range(4)]


class _Bits:
    def _masked(self, most):
        """An integer of 0 ... most, by drawing until it fits."""
        mask, draw = (1 << most.bit_length()) - 1, self.next32 if most <= _MASK32 else self.next64
        while (value := draw() & mask) > most:
            pass
        return value

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self._masked(i)
            items[i], items[j] = items[j], items[i]


class PCG64(_Bits):
    def __init__(self, seed):
        first, second, third, fourth = _state(operator.index(seed))
        self.increment = ((third << 64 | fourth) << 1 | 1) & _MASK128
        self.state, self.half = 0, None
        self._step()
        self.state += first << 64 | second
        self._step()

    def _step(self):
        self.state = (self.state * _MULTIPLIER + self.increment) & _MASK128

    def next64(self):
        self._step()
        value, turn = (self.state >> 64) ^ (self.state & _MASK64), self.state >> 122
        return (value >> turn | value << (64 - turn)) & _MASK64

    def next32(self):
        if self.half is not None:
            value, self.half = self.half, None
            return value
        value = self.next64()
        self.half = value >> 32
        return value & _MASK32

    def random(self):
        return (self.next64() >> 11) * 2.0**-53

    def below(self, n):
        """An integer of 0 ... n - 1, by Lemire's method."""
        if n == 1:
            return 0
        bits, draw = (32, self.next32) if n <= 1 << 32 else (64, self.next64)
        if n == 1 << bits:
            return draw()
        mask = (1 << bits) - 1
        product = draw() * n
        if product & mask < n:
            least = (mask - n + 1) % n
            while product & mask < least:
                product = draw() * n
        return product >> bits

    def sample(self, n, k, shuffle=True):
        """k different ones of 0 ... n - 1."""
        if n > 10000 and k > n // (50 if shuffle else 20):
            found = list(range(n))
            for i in range(n - 1, max(n - k, 1) - 1, -1):
                j = self.below(i + 1)
                found[i], found[j] = found[j], found[i]
            return found[n - k :]
        found, seen = [], set()
        for j in range(n - k, n):
            value = self.below(j + 1)
            value = j if value in seen else value
            seen.add(value)
            found.append(value)
        for i in range(k - 1 if shuffle else 0, 0, -1):
            j = self.below(i + 1)
            found[i], found[j] = found[j], found[i]
        return found


class MT19937(_Bits):
    def __init__(self, seed):
        seed = operator.index(seed)
        if not 0 <= seed <= _MASK32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        self.key, self.at = [], 624
        for i in range(624):
            self.key.append(seed)
            seed = (1812433253 * (seed ^ seed >> 30) + i + 1) & _MASK32

    def _refill(self):
        key = self.key
        for i in range(624):
            y = key[i] & 0x80000000 | key[(i + 1) % 624] & 0x7FFFFFFF
            key[i] = key[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
        self.at = 0

    def next32(self):
        if self.at == 624:
            self._refill()
        y = self.key[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def next64(self):
        return self.next32() << 32 | self.next32()

    def random(self):
        high, low = self.next32() >> 5, self.next32() >> 6
        return (high * 67108864 + low) / 9007199254740992

    def below(self, n):
        return self._masked(n - 1) if n > 1 else 0

    def sample(self, n, k, shuffle=True):
        found = list(range(n))
        self.shuffle(found)
        return found[:k]
