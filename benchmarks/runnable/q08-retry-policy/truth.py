"""Decides the question by running the given program with each change."""

from statistics import fmean

from retry import full_jitter, simulate

OPTIONS = {
    "O-1": {"budget": 0.1},
    "O-2": {"newest_first": True},
    "O-3": {"queue_max": 90},
    "O-4": {"wait": full_jitter},
}


def share(change):
    """Answered of made, the mean over seeds."""
    return fmean(
        answered / made for answered, made in (simulate(seed=seed, **change) for seed in range(2, 7))
    )


print(f"no change: {share({}):.1%} answered")
found = {option: share(change) for option, change in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {', '.join(OPTIONS[option])}: {value:.1%} answered")
print("answer:", max(found, key=found.get))
