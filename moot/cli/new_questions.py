"""The questions of `moot new`: domain, question, casting, budget, schedule, in this order (SD-20)."""

from __future__ import annotations

from dataclasses import replace

import typer

from moot.app.run_options import RunOptions
from moot.terminal.streams import out
from roles.castings import CASTINGS, DEFAULT_CASTING
from rounds.protocols.plans import PLANS
from rounds.setup.size import replies_at_most

WITHOUT_STRESS = """\
Stress rounds send each role away once. Without them nothing shows what a role contributes, the fourth stop signal
cannot hold, and agreement looks stronger than it is. It would be recorded, and said before every verdict.
"""


def ask_for(wishes: RunOptions, cast: str | None) -> tuple[RunOptions, str | None]:
    """Ask for what the flags left open, question by question."""
    out("1  The question\n")
    domain = wishes.domain or _line("   Field it belongs to (software, research, …)", "")
    question = _needed("   What is to be deliberated")
    goals = wishes.goals or _several("   A goal that a good outcome serves")
    options = wishes.options or _several("   An option under discussion")
    out("2  The roles\n")
    chosen = cast or _one_of("   Casting", tuple(CASTINGS), DEFAULT_CASTING)
    out("3  The rounds\n")
    # The price of each plan is shown before the choice: rounds are what a run costs.
    for name, plan_rows in PLANS.items():
        rows = plan_rows()
        stress = ", ".join(f"R{row.round} without {row.absent}" for row in rows if row.absent)
        out(
            f"   {name}: {len(rows)} rounds, at most {replies_at_most(rows, positions='beliefs')} replies; {stress}\n"
        )
    plan = wishes.plan or _one_of("   Plan", tuple(PLANS), "standard-13")
    asked = replace(wishes, domain=domain or None, question=question, goals=goals, options=options, plan=plan)
    return replace(asked, no_stress=wishes.no_stress or _skips_stress()), chosen


def _skips_stress() -> bool:
    if typer.confirm("   Keep the stress rounds", default=True):
        return False
    out(WITHOUT_STRESS)
    # Asked twice, with the price in between: skipping stress rounds is what a hurried person would do first.
    return typer.confirm("   Skip them all the same", default=False)


def _line(prompt: str, default: str) -> str:
    return str(typer.prompt(prompt, default=default, show_default=bool(default))).strip()


def _needed(prompt: str) -> str:
    while not (answer := _line(prompt, "")):
        out("   It needs a question.\n")
    return answer


def _several(prompt: str) -> tuple[str, ...]:
    answers: list[str] = []
    while answer := _line(f"{prompt} (empty: no more)", ""):
        answers.append(answer)
    return tuple(answers)


def _one_of(prompt: str, choices: tuple[str, ...], default: str) -> str:
    while (answer := _line(f"{prompt} ({', '.join(choices)})", default)) not in choices:
        out(f"   One of {', '.join(choices)}.\n")
    return answer
