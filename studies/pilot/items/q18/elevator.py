"""One lift in a house of 20 floors, on a morning: who it fetches next is decided by four rules."""

from random import Random

FLOORS = 20
SECONDS = 3 * 3_600
DOOR_S, FLOOR_S = 6, 2
ROOM = 10


def calls(seed=7):
    """(second, from, to): most come in at the bottom; from nine o'clock on some go to the canteen on floor 12."""
    rng = Random(seed)
    second = 0.0
    while True:
        second += rng.expovariate(1 / 30)
        if second >= SECONDS:
            return
        draw = rng.random()
        if draw < 0.5:
            start, end = 0, rng.randrange(1, FLOORS)
        elif draw < 0.7 and second > 3_600:
            start, end = rng.randrange(FLOORS), 12
        else:
            start, end = rng.randrange(FLOORS), rng.randrange(FLOORS)
        if start != end:
            yield int(second), start, end


def oldest(floor, direction, waiting, inside):
    """The floor of who has been under way longest, inside or waiting."""
    return min([*waiting, *inside])[3]


def nearest(floor, direction, waiting, inside):
    """The nearest floor that anybody wants."""
    return min((abs(one[3] - floor), one[3]) for one in [*waiting, *inside])[1]


def sweep(floor, direction, waiting, inside):
    """The next floor that anybody wants in this direction; turn when there is none."""
    wanted = {one[3] for one in [*waiting, *inside]}
    if floor in wanted:
        return floor
    ahead = [other for other in wanted if (other - floor) * direction > 0]
    return min(ahead or wanted, key=lambda other: (abs(other - floor), other))


def inside_first(floor, direction, waiting, inside):
    """The nearest floor that somebody inside wants; only an empty lift goes to those who wait, oldest first."""
    if inside:
        return min((abs(one[3] - floor), one[3]) for one in inside)[1]
    return min(waiting)[3]


def ride(rule):
    """Seconds from call to arrival over all: mean, and the worst."""
    coming = list(calls())[::-1]
    waiting, inside, took = [], [], []
    floor, direction, now = 0, 1, 0
    while coming or waiting or inside:
        while coming and coming[-1][0] <= now:
            second, start, end = coming.pop()
            waiting.append((second, start, end, start))
        if not waiting and not inside:
            now = coming[-1][0]
            continue
        goal = rule(floor, direction, waiting if len(inside) < ROOM else [], inside)
        if goal != floor:
            direction = 1 if goal > floor else -1
            floor += direction
            now += FLOOR_S
            continue
        now += DOOR_S
        took += [now - one[0] for one in inside if one[3] == floor]
        inside = [one for one in inside if one[3] != floor]
        enter = [one for one in waiting if one[3] == floor][: ROOM - len(inside)]
        waiting = [one for one in waiting if one not in enter]
        inside += [(*one[:3], one[2]) for one in enter]
    return sum(took) / len(took), max(took)
