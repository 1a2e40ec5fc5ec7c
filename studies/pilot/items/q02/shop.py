"""A job shop: 30 jobs visit 6 machines, each in an order of its own; a rule picks from each queue."""

import heapq
from random import Random

JOBS, MACHINES = 30, 6


def orders(seed=11):
    """For each job its steps: (machine, minutes)."""
    rng = Random(seed)
    found = []
    for _ in range(JOBS):
        route = list(range(MACHINES))
        rng.shuffle(route)
        slow = rng.random() < 0.2
        found.append([(machine, rng.randint(4, 30) * (3 if slow else 1)) for machine in route])
    return found


def shortest_step(job, step, steps, since):
    """The job whose step here is shortest."""
    return steps[job][step][1]


def longest_step(job, step, steps, since):
    """The job whose step here is longest."""
    return -steps[job][step][1]


def most_work_left(job, step, steps, since):
    """The job with the most minutes to go, this step included."""
    return -sum(minutes for _, minutes in steps[job][step:])


def first_come(job, step, steps, since):
    """The job that has waited longest in this queue."""
    return since


def next_queue_is_empty(queues):
    """The job whose next machine has the shortest queue, then the shortest step."""

    def rule(job, step, steps, since):
        ahead = steps[job][step + 1][0] if step + 1 < MACHINES else None
        return (len(queues[ahead]) if ahead is not None else JOBS, steps[job][step][1])

    return rule


def play(rule, steps=None):
    """Minutes until the last job is done, and the mean minutes until a job is done."""
    steps = steps or orders()
    queues = [[] for _ in range(MACHINES)]
    busy = [False] * MACHINES
    if rule is next_queue_is_empty:
        rule = next_queue_is_empty(queues)
    events, done = [], []
    for job in range(JOBS):
        queues[steps[job][0][0]].append((job, 0, 0))

    def start(machine, now):
        if busy[machine] or not queues[machine]:
            return
        chosen = min(queues[machine], key=lambda entry: (rule(entry[0], entry[1], steps, entry[2]), entry[0]))
        queues[machine].remove(chosen)
        busy[machine] = True
        heapq.heappush(events, (now + steps[chosen[0]][chosen[1]][1], machine, chosen[0], chosen[1]))

    for machine in range(MACHINES):
        start(machine, 0)
    while events:
        now, machine, job, step = heapq.heappop(events)
        busy[machine] = False
        if step + 1 < MACHINES:
            following = steps[job][step + 1][0]
            queues[following].append((job, step + 1, now))
            start(following, now)
        else:
            done.append(now)
        start(machine, now)
    return max(done), sum(done) / len(done)
