"""A child process that commits until it is killed, and says each commit that was acknowledged.

python -m tests.ledger.committer RUN SEED
"""

from __future__ import annotations

import random
import sys

from ledger.store.blobs import hash_of
from ledger.store.store import create_run
from tests.ledger import samples


def main(path: str, seed: int) -> None:
    chance = random.Random(seed)
    run = create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
    print("ready", flush=True)
    number = 2
    while True:
        size = chance.randint(1, 6)
        blob = f"reply {number}".encode() * 50
        with run.writer() as writer:
            drafts = [*samples.naming([blob]), *samples.mixed(size, number)]
            events = writer.commit(drafts, at=samples.AT, blobs={hash_of(blob): blob})
        number += size
        print(events[-1].seq, events[-1].id, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
