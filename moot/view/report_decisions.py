"""The decisions in the report, each with its standing and the ids of its grounds."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.interchange.markdown import inline, listed, quoted, table
from ledger.language.words import word_count
from ledger.plain_text import one_line, shortened
from moot.view import marks
from moot.view.decisions import DecisionTold
from moot.view.grounds import ground_standing
from moot.view.story import Story

FINALS, OTHERS, GROUNDS = 5, 4, 8
"""Maximum numbers shown; further ones are counted with a pointer."""
TEXT, BESIDE = 90, 200
"""Maximum characters of a round decision, and of a final one next to the answer."""
# Shorter answers are cheap to repeat, and longer ones may be cut in the outcome.
WHOLE = (20, 80)
"""Words of an answer that is too long to repeat, and short enough to be uncut in the outcome."""


def decided(story: Story, answer: str = "") -> Iterator[str]:
    """Yield the final decisions in force, else the others in force, without repeating the `answer`."""
    yield ""
    yield "## Decisions in force (none is final)" if story.outcome and not story.is_final else "## Decided"
    if not story.outcome:
        yield ""
        yield "Nothing was decided."
    # Two decisions still fit in full; of more only the first has its grounds.
    whole = story.outcome[: 2 if len(story.outcome) == 2 else 1]
    for decision in whole:
        yield ""
        yield from _decision(decision, answer)
    if beside := story.outcome[len(whole) : FINALS]:
        yield ""
        yield from (_beside(decision) for decision in beside)
    if more := story.outcome[FINALS:]:
        ids = listed(decision.id for decision in more)
        yield f"- and {len(more)} more: {ids}; `moot decisions RUN` has their words"


def _decision(decision: DecisionTold, answer: str) -> Iterator[str]:
    """Yield one decision: its words, facts, conditions and grounds."""
    yield f"### {inline(decision.id)}"
    yield ""
    if one_line(decision.text) == answer and WHOLE[0] <= word_count(answer) <= WHOLE[1]:
        yield f"The answer above ({_facts(decision)})."
    else:
        yield quoted(decision.text)
        yield ""
        yield f"({_facts(decision)})"
    for word, text in decision.conditions.told():
        yield f"- {word}: {inline(text)}"
    if decision.rests_on:
        grounds = [f"{ground.id} {ground_standing(ground)}" for ground in decision.rests_on[:GROUNDS]]
        more = f" and {len(decision.rests_on) - GROUNDS} more" if len(decision.rests_on) > GROUNDS else ""
        yield f"- rests on {inline(', '.join(grounds))}{more}: `moot why RUN {decision.id}`"


def _beside(decision: DecisionTold) -> str:
    """Return another final decision in one line; `moot show` has the whole."""
    text = inline(shortened(decision.text, BESIDE))
    return f"- **{inline(decision.id)}** {text} ({_facts(decision)}; `moot show RUN {decision.id}`)"


def _facts(decision: DecisionTold) -> str:
    standing = "" if decision.standing == "in force" else f"; **{inline(_standing(decision))}**"
    return f"{listed(decision.facts)}{standing}"


def decisions_table(story: Story) -> Iterator[str]:
    """Yield the decisions outside the outcome: overrides and overturned ones first, then round decisions."""
    # False sorts first: overrides and overturned decisions come before ordinary round decisions.
    ordered = sorted(
        story.other_decisions, key=lambda decision: decision.in_force and decision.type == "round"
    )
    chosen = {decision.seq for decision in ordered[:OTHERS]}
    selected = [decision for decision in story.other_decisions if decision.seq in chosen]
    rows = [
        (
            inline(decision.id),
            decision.type,
            inline(shortened(decision.text, TEXT)),
            listed((*decision.ends, *(ground.id for ground in decision.rests_on[:GROUNDS]))),
            inline(_standing(decision)),
        )
        for decision in selected
    ]
    yield from table(("id", "type", "decision", "cites", "standing"), rows)
    if len(ordered) > OTHERS:
        yield ""
        yield f"And {len(ordered) - OTHERS} more on the way: `moot decisions RUN`."


def _standing(decision: DecisionTold) -> str:
    at_risk = decision.in_force and decision.fallen
    return f"{marks.AT_RISK.shape} {decision.standing}" if at_risk else decision.standing
