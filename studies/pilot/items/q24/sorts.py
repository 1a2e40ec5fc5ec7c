"""Four sorts that count comparisons, and lists as our exports have them."""

from random import Random


def export(seed=3, size=6_000):
    """Several sorted files one behind the other, some with their order reversed, some keys many times, a few strays."""
    rng = Random(seed)
    found = []
    while len(found) < size:
        part = sorted(rng.randrange(900) for _ in range(rng.randint(40, 400)))
        found += part if rng.random() < 0.7 else part[::-1]
    for _ in range(size // 50):
        found[rng.randrange(size)] = rng.randrange(900)
    return found[:size]


class Counting:
    """Comparisons so far."""

    def __init__(self):
        self.count = 0

    def less(self, one, other):
        self.count += 1
        return one < other


def merge_bottom_up(values, c):
    """Merge runs of 1, 2, 4, …; two runs that are in order already are not merged."""
    values, width = list(values), 1
    while width < len(values):
        for low in range(0, len(values) - width, 2 * width):
            middle, high = low + width, min(low + 2 * width, len(values))
            if c.less(values[middle], values[middle - 1]):
                values[low:high] = merged(values[low:middle], values[middle:high], c)
        width *= 2
    return values


def merged(left, right, c):
    """Both in order."""
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if c.less(right[j], left[i]):
            found.append(right[j])
            j += 1
        else:
            found.append(left[i])
            i += 1
    return found + left[i:] + right[j:]


def merge_natural(values, c):
    """Find rising runs, then merge neighbours until one is left."""
    runs, start = [], 0
    for place in range(1, len(values) + 1):
        if place == len(values) or c.less(values[place], values[place - 1]):
            runs.append(values[start:place])
            start = place
    while len(runs) > 1:
        pairs = [merged(runs[i], runs[i + 1], c) for i in range(0, len(runs) - 1, 2)]
        runs = pairs + runs[len(pairs) * 2 :]
    return runs[0]


def quick_three_way(values, c):
    """Median of first, middle and last; less, equal and greater apart (two comparisons for what is not less)."""
    if len(values) < 2:
        return list(values)
    a, b, d = values[0], values[len(values) // 2], values[-1]
    a, b = (b, a) if c.less(b, a) else (a, b)
    pivot = b if c.less(b, d) else (a if c.less(d, a) else d)
    less, equal, greater = [], [], []
    for value in values:
        if c.less(value, pivot):
            less.append(value)
        elif c.less(pivot, value):
            greater.append(value)
        else:
            equal.append(value)
    return quick_three_way(less, c) + equal + quick_three_way(greater, c)


def insert_by_bisection(values, c):
    """Each into its place among those before; tries first whether it belongs at the end."""
    found = []
    for value in values:
        if found and c.less(value, found[-1]):
            low, high = 0, len(found) - 1
            while low < high:
                middle = (low + high) // 2
                if c.less(value, found[middle]):
                    high = middle
                else:
                    low = middle + 1
            found.insert(low, value)
        else:
            found.append(value)
    return found


def comparisons(sort, seeds=range(5)):
    """Comparisons over some exports; the result is checked."""
    total = 0
    for seed in seeds:
        values, c = export(seed), Counting()
        assert sort(values, c) == sorted(values)
        total += c.count
    return total
