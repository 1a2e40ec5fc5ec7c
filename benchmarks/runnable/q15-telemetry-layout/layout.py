"""Some hours of telemetry and four ways to lay it out before `zlib.compress(…, 6)`."""

import json
import struct
from random import Random


def readings(seed=12, count=40_000):
    """(milliseconds, sensor, value in thousandths, state): 24 sensors that report every 5 s or so."""
    rng = Random(seed)
    due = [rng.randrange(5_000) for _ in range(24)]
    value = [rng.randrange(15_000, 30_000) for _ in range(24)]
    state = [0] * 24
    for _ in range(count):
        sensor = min(range(24), key=due.__getitem__)
        if rng.random() < 0.6:
            value[sensor] += rng.choice((-250, -125, 125, 250))  # the converter has steps of an eighth
        if rng.random() < 0.002:
            state[sensor] = rng.choice((0, 0, 0, 1, 3, 64))
        yield due[sensor], sensor, value[sensor], state[sensor]
        due[sensor] += 5_000 + (rng.choice((-1, 1)) if rng.random() < 0.1 else 0)


def json_lines(rows):
    """One JSON object a line."""
    names = ("ms", "sensor", "value", "state")
    return "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows).encode()


def csv_lines(rows):
    """One line of numbers in decimal a reading."""
    return "\n".join(",".join(map(str, row)) for row in rows).encode()


def packed_rows(rows):
    """14 bytes a reading: 8 + 1 + 4 + 1, little endian."""
    return b"".join(struct.pack("<qBiB", *row) for row in rows)


def packed_columns(rows):
    """The same fields, each column on its own."""
    columns = zip(*rows, strict=True)
    return b"".join(
        struct.pack(f"<{len(rows)}{code}", *column) for code, column in zip("qBiB", columns, strict=True)
    )
