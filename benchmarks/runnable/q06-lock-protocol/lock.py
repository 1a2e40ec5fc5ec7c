"""A lock for three workers without a server, as a transition system: every step reads or writes one shared cell."""

WORKERS = 3
FREE = 0

# A worker's program, one line one atomic step. `owner` and `door` are cells that all workers see;
# `flag[i]` is worker i's own, read by others. `me` is 1, 2 or 3.
#
#   0  flag[me] = 1
#   1  if owner != FREE: goto 9
#   2  owner = me
#   3  door = me
#   4  if owner != me: goto 9
#   5  look at the next other worker's flag: if 2 goto 9; when all others were looked at, goto 6
#   6  flag[me] = 2
#   7  if door != me: goto 9
#   8  CRITICAL; leaving it: owner = FREE, flag[me] = 0, goto 0 (one step)
#   9  flag[me] = 0
#  10  if owner == me: owner = FREE
#  11  goto 0

CRITICAL = 8

CHANGES = {
    "free any": "line 10 is `owner = FREE`, whoever the owner is",
    "owner at 7": "line 7 looks at `owner` in place of `door`",
    "late door": "`door = me` is not written in line 3 but together with the last step of line 5",
    "free door": "leaving the critical section also writes `door = FREE`",
}


def first():
    """(places, looked, flags, owner, door)"""
    return ((0,) * WORKERS, (0,) * WORKERS, (0,) * WORKERS, FREE, FREE)


def put(values, index, value):
    """The tuple with one value replaced."""
    return (*values[:index], value, *values[index + 1 :])


def step(state, worker, change=None):
    """The state after one step of a worker, in the protocol or with one change."""
    places, looked, flags, owner, door = state
    me, at = worker + 1, places[worker]

    def to(place, looked=looked, flags=flags, owner=owner, door=door):
        return (put(places, worker, place), looked, flags, owner, door)

    if at == 0:
        return to(1, flags=put(flags, worker, 1))
    if at == 1:
        return to(9 if owner != FREE else 2)
    if at == 2:
        return to(3, owner=me)
    if at == 3:
        return to(4, door=door if change == "late door" else me, looked=put(looked, worker, 0))
    if at == 4:
        return to(9 if owner != me else 5)
    if at == 5:
        others = [other for other in range(WORKERS) if other != worker]
        seen = looked[worker]
        if seen == len(others):
            return to(6, door=me if change == "late door" else door, looked=put(looked, worker, 0))
        if flags[others[seen]] == 2:
            return to(9, looked=put(looked, worker, 0))
        return to(5, looked=put(looked, worker, seen + 1))
    if at == 6:
        return to(7, flags=put(flags, worker, 2))
    if at == 7:
        return to(9 if (owner if change == "owner at 7" else door) != me else CRITICAL)
    if at == CRITICAL:
        left = FREE if change == "free door" else door
        return to(0, owner=FREE, door=left, flags=put(flags, worker, 0))
    if at == 9:
        return to(10, flags=put(flags, worker, 0))
    if at == 10:
        return to(11, owner=FREE if owner == me or change == "free any" else owner)
    return to(0)


def reachable(change=None):
    """Every state that some interleaving reaches, with its distance in steps from the first."""
    distance, layer = {first(): 0}, [first()]
    while layer:
        following = []
        for state in layer:
            for worker in range(WORKERS):
                after = step(state, worker, change)
                if after not in distance:
                    distance[after] = distance[state] + 1
                    following.append(after)
        layer = following
    return distance


def inside(state):
    """How many workers are in the critical section."""
    return sum(place == CRITICAL for place in state[0])
