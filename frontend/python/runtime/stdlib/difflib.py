# What is like what: for the suggestions in libraries' messages.
from heapq import nlargest


class SequenceMatcher:
    def __init__(self, isjunk=None, a="", b="", autojunk=True):
        self.isjunk, self.autojunk = isjunk, autojunk
        self.set_seqs(a, b)

    def set_seqs(self, a, b):
        self.set_seq1(a)
        self.set_seq2(b)

    def set_seq1(self, a):
        self.a = a

    def set_seq2(self, b):
        self.b = b
        self.b2j = {}
        for i, item in enumerate(b):
            self.b2j.setdefault(item, []).append(i)
        self.bjunk = {item for item in self.b2j if self.isjunk is not None and self.isjunk(item)}
        self.bpopular = set()
        if self.autojunk and len(b) >= 200:
            self.bpopular = {i for i, at in self.b2j.items() if i not in self.bjunk and len(at) > len(b) // 100 + 1}
        for item in self.bjunk | self.bpopular:
            del self.b2j[item]

    def _longest(self, alo, ahi, blo, bhi):
        a, b, junk = self.a, self.b, self.bjunk
        besti, bestj, best, lengths = alo, blo, 0, {}
        for i in range(alo, ahi):
            here = {}
            for j in self.b2j.get(a[i], ()):
                if j < blo:
                    continue
                if j >= bhi:
                    break
                k = here[j] = lengths.get(j - 1, 0) + 1
                if k > best:
                    besti, bestj, best = i - k + 1, j - k + 1, k
            lengths = here
        for extends in (lambda item: item not in junk, lambda item: item in junk):
            while besti > alo and bestj > blo and extends(b[bestj - 1]) and a[besti - 1] == b[bestj - 1]:
                besti, bestj, best = besti - 1, bestj - 1, best + 1
            while (
                besti + best < ahi
                and bestj + best < bhi
                and extends(b[bestj + best])
                and a[besti + best] == b[bestj + best]
            ):
                best += 1
        return besti, bestj, best

    def ratio(self):
        matches, queue = 0, [(0, len(self.a), 0, len(self.b))]
        while queue:
            alo, ahi, blo, bhi = queue.pop()
            i, j, k = self._longest(alo, ahi, blo, bhi)
            if k:
                matches += k
                queue.append((alo, i, blo, j))
                queue.append((i + k, ahi, j + k, bhi))
        length = len(self.a) + len(self.b)
        return 2.0 * matches / length if length else 1.0

    quick_ratio = real_quick_ratio = ratio


def get_close_matches(word, possibilities, n=3, cutoff=0.6):
    if not n > 0:
        raise ValueError("n must be > 0: %r" % (n,))
    if not 0.0 <= cutoff <= 1.0:
        raise ValueError("cutoff must be in [0.0, 1.0]: %r" % (cutoff,))
    found, matcher = [], SequenceMatcher()
    matcher.set_seq2(word)
    for possible in possibilities:
        matcher.set_seq1(possible)
        ratio = matcher.ratio()
        if ratio >= cutoff:
            found.append((ratio, possible))
    return [possible for _, possible in nlargest(n, found)]
