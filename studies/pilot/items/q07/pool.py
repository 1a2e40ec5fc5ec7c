"""A buffer pool of 600,000 bytes that is carved by four fits, under the sizes that our gateway asks for."""

import heapq
from random import Random

SPACE = 600_000
HEADER = 16


def requests(seed=3, count=200_000):
    """(moment, size, how long it is held), endlessly alternating phases of small and large messages."""
    rng = Random(seed)
    for moment in range(count):
        phase = (moment // 2_500) % 4
        if phase == 3 or rng.random() < 0.02:
            size = rng.choice((4_096, 6_000, 8_192, 12_288))
            held = rng.randint(5, 60)
        else:
            size = int(min(rng.lognormvariate(5.3, 0.9), 3_000)) + 1
            held = int(rng.expovariate(1 / (350 + 250 * phase))) + 1
        yield moment, size, held


class Pool:
    """Free extents in order of address, merged when neighbours are free."""

    def __init__(self, fit):
        self.fit = fit
        self.free = [(0, SPACE)]
        self.cursor = 0

    def take(self, size):
        """The address of `size` bytes, or None."""
        size = (size + HEADER + 15) // 16 * 16
        fitting = [extent for extent in self.free if extent[1] >= size]
        if not fitting:
            return None
        address, length = self.choose(fitting)
        index = self.free.index((address, length))
        self.free[index : index + 1] = [(address + size, length - size)] if length > size else []
        self.cursor = address + size
        return address, size

    def choose(self, fitting):
        """The extent to carve."""
        if self.fit == "best":
            return min(fitting, key=lambda extent: (extent[1], extent[0]))
        if self.fit == "worst":
            return max(fitting, key=lambda extent: (extent[1], -extent[0]))
        if self.fit == "next":
            return next((extent for extent in fitting if extent[0] >= self.cursor), fitting[0])
        return fitting[0]

    def give(self, address, size):
        """Give an extent back and merge it with free neighbours."""
        index = next((i for i, (start, _) in enumerate(self.free) if start > address), len(self.free))
        self.free.insert(index, (address, size))
        for left in (index, index - 1):
            if 0 <= left < len(self.free) - 1 and sum(self.free[left]) == self.free[left + 1][0]:
                self.free[left : left + 2] = [
                    (self.free[left][0], self.free[left][1] + self.free[left + 1][1])
                ]


def refused(fit, count=20_000):
    """How many requests find no room, and the largest number of free extents."""
    pool, held, missed, pieces = Pool(fit), [], 0, 0
    for moment, size, duration in requests(count=count):
        while held and held[0][0] <= moment:
            pool.give(*heapq.heappop(held)[1])
        found = pool.take(size)
        if found is None:
            missed += 1
        else:
            heapq.heappush(held, (moment + duration, found))
        pieces = max(pieces, len(pool.free))
    return missed, pieces
