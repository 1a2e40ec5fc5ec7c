"""Four ways to put order numbers into a table of 2^14 chained slots."""

SLOTS_BITS = 14
SLOTS = 1 << SLOTS_BITS
WORD = (1 << 64) - 1


def order_numbers():
    """12,000 keys as our shops write them: shop, day and a running counter in bit fields of one 64-bit number."""
    counter = 0
    for day in range(100):
        for shop in range(8):
            for _ in range(15):
                counter = (counter + 1) % 4_096
                yield (shop << 40) | ((19_700 + day) << 20) | counter


def fold(key):
    """All the bits, 14 at a time, by exclusive or."""
    found = 0
    while key:
        found ^= key & (SLOTS - 1)
        key >>= SLOTS_BITS
    return found


def multiply(key):
    """Multiplicative hashing: the upper bits of the product with 2^64 / golden ratio."""
    return ((key * 0x9E3779B97F4A7C15) & WORD) >> (64 - SLOTS_BITS)


def remainder(key):
    """The remainder by the largest prime below the number of slots."""
    return key % 16_381


def shift_and_add(key):
    """One at a time over the eight bytes, as in Jenkins's function, the lower bits of the result."""
    found = 0
    for byte in key.to_bytes(8, "little"):
        found = (found + byte) & 0xFFFFFFFF
        found = (found + (found << 10)) & 0xFFFFFFFF
        found ^= found >> 6
    found = (found + (found << 3)) & 0xFFFFFFFF
    found ^= found >> 11
    found = (found + (found << 15)) & 0xFFFFFFFF
    return found & (SLOTS - 1)


def probes(hashed):
    """Comparisons to find every key once: a key that is k-th in its chain takes k."""
    length = [0] * SLOTS
    total = 0
    for key in order_numbers():
        slot = hashed(key)
        length[slot] += 1
        total += length[slot]
    return total
