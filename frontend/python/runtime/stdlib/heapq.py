def heappush(heap, item):
    heap.append(item)
    i = len(heap) - 1
    while i > 0 and heap[i] < heap[(i - 1) // 2]:
        heap[i], heap[(i - 1) // 2] = heap[(i - 1) // 2], heap[i]
        i = (i - 1) // 2


def _sift(heap, i):
    n = len(heap)
    while True:
        child = 2 * i + 1
        if child >= n:
            return
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if not heap[child] < heap[i]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def heappop(heap):
    if not heap:
        raise IndexError('index out of range')
    last = heap.pop()
    if not heap:
        return last
    top, heap[0] = heap[0], last
    _sift(heap, 0)
    return top


def heapify(x):
    for i in reversed(range(len(x) // 2)):
        _sift(x, i)


def heappushpop(heap, item):
    heappush(heap, item)
    return heappop(heap)


def heapreplace(heap, item):
    top = heappop(heap)
    heappush(heap, item)
    return top


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def merge(*iterables, key=None, reverse=False):
    return iter(sorted([x for it in iterables for x in it], key=key, reverse=reverse))
