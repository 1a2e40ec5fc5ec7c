"""Judgements in words: options, the ruling of a vote, the merge of a council, totals of sides, scorecards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from statistics import mean
from typing import Final, NamedTuple, TypeVar

from ledger.events import Agenda, Argument, Decision, Event, Ruling, Score, Standing, Vote
from ledger.events.decisions import Relation
from ledger.events.ids import OPTION_MENTION, role_of
from ledger.language.words import word_count
from ledger.plain_text import counted, first_sentence, one_line, sentences, some
from ledger.state.book import Book, grouped, per_book
from ledger.state.decided import final_in_force, in_force
from rounds.protocols.citations import UPHELD, most_say
from rounds.protocols.sides import pairing
from rounds.protocols.step_table import handed_in
from rounds.protocols.votes import VETO_FROM, sides_with

_LISTED: Final = re.compile(rf"^\s*(?:[-*+]\s+)?[*_`]*({OPTION_MENTION})[*_`]*[:.)]?\s+(\S.*)$", re.MULTILINE)
"""A line of a document that begins with the id of an option: `- O-2 One journal with a hash chain.`"""
# Skip ids that a parenthesis explains already; an opening one becomes part of the gloss.
_NAMED: Final = re.compile(rf"(\()?\b({OPTION_MENTION})\b(?! \()")
# Words of refusal shortly before a name: "not X", "rather than X". A "but" or a comma ends their reach.
_SET_ASIDE: Final = re.compile(
    r"\b(?:not|no|than|over|against|beats|instead of|rather than)\b(?:(?!\bbut\b)[^,;:.]){0,25}\Z"
)
"""Words before an option's name by which a sentence rules the option out."""
WORDS: Final = 8
"""Maximum words of an option next to its id; a longer one is cut at its first comma, colon or semicolon."""


@per_book
def options_of(book: Book) -> dict[str, str]:
    """Return option texts by id, from the opening, else the agenda, else a document of the opening.

    In a document, the first line that begins with an id defines it. Empty where no source defines the ids: then
    each text that uses an `O-1` means its own.
    """
    opening = book.state.opening
    agendas = list(book.of(Agenda))
    # The asker's own list wins over an agenda that a role wrote.
    options = opening.options or (agendas[-1].options if agendas else ())
    if options:
        return {option.id: option.text for option in options}
    options_listed: dict[str, str] = {}
    for document in opening.context:
        raw = book.blobs.read(document.sha256)
        # Documents come from the user and need not be valid UTF-8.
        for identity, text in _LISTED.findall(raw.decode("utf-8", "replace")) if raw else ():
            # A document may name an option again later; its first line is the definition.
            options_listed.setdefault(identity, one_line(text))
    return options_listed


def has_beliefs(book: Book) -> bool:
    """Return whether the run has sealed forecasts over its options."""
    return book.state.opening.protocol == "crux" and bool(book.state.beliefs)


def named(book: Book, text: str) -> str:
    """Return a text in which each option has the asker's words at its first mention."""
    options = options_of(book) if _NAMED.search(text) else {}
    # Glossing every mention would drown a sentence, so only the first has the words.
    seen: set[str] = set()

    def glossed(match: re.Match[str]) -> str:
        opens, identity = match[1] or "", match[2]
        if identity in seen or identity not in options:
            return match[0]
        seen.add(identity)
        words = one_line(options[identity])
        words = (words if word_count(words) <= WORDS else re.split(r"[,;:]", words)[0]).rstrip(".")
        return f"{opens}{identity}: {words}" if opens else f"{identity} ({words})"

    return _NAMED.sub(glossed, text)


def option_said(options: Mapping[str, str], text: str) -> str | None:
    """Return the option whose name comes first in the first sentence of a text; None where it names none.

    The name of an option is its text up to the first comma, colon or semicolon, as in ``Take `lru`: it is
    simple``.
    """
    sentence = first_sentence(text).replace("`", "").casefold()
    mentions: list[tuple[int, int, str]] = []
    for identity, words in options.items():
        name = re.split(r"[,;:]", one_line(words).replace("`", ""))[0].strip(" .").casefold()
        # Whole words only: the option `list` must not match inside "listing".
        places = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) if name else ()
        mentions += [
            # At the same place the longest name wins, so "lru cache" beats "lru".
            (place.start(), -len(name), identity)
            for place in places
            if not _SET_ASIDE.search(sentence, 0, place.start())
        ]
    return min(mentions)[2] if mentions else None


_E = TypeVar("_E")
GAP: Final = "; the gap of "
"""Words of a judge's narrative about the totals of the sides."""
_OPTION: Final = re.compile(rf"\b{OPTION_MENTION}\b")
_I: Final = r"\bI (?:(?:still|now|therefore|thus|also|again|continue to) )*"
_AGAINST: Final = re.compile(
    rf"{_I}(?:(?:do not|don't|cannot|can't) (?:act|approve|recommend|support)|object|oppose|refuse|veto)\b"
)
_FOR: Final = re.compile(rf"{_I}(?:act|approve|recommend|support|warn)\b")
_KEPT: Final = re.compile(rf"{_I}(?:hold|keep|maintain|uphold|vote)\b")
"""How a voter states a position; a condition (`I would support`) matches none of these."""
NAMED: Final = 3
"""Maximum number of other plans named; the rest is counted."""


_MEMBERS: Final = frozenset({"single-pass", "council"})
"""Protocols whose decisions name their option, or none, in `about`."""


class Card(NamedTuple):
    """An option's mean points by criterion and in total, and the scores that they were computed from."""

    option: str
    parts: dict[str, Decimal]
    total: Decimal
    refs: tuple[str, ...]


class Majority(NamedTuple):
    """The decisions of independent members: all of them, the leading option, and those that name it.

    Where no option leads, `agreeing` are all of them: any member can speak for the others.
    """

    plans: tuple[Decision, ...]
    option: str | None
    agreeing: tuple[Decision, ...]

    @property
    def most(self) -> int:
        """Return how many members named the leading option."""
        return len(self.agreeing) if self.option else 0


class Ballot(NamedTuple):
    """A ruling with the votes that it counts; one that was lost counts as REFUSE and has no numbers."""

    ruling: Ruling
    votes: list[Vote]

    @property
    def named(self) -> str:
        """Return the views by whose numbers alone the rule decides; empty where it counts all votes."""
        facts = self.ruling.metadata
        return f"{facts.get('low_confidence_agent', '')}{facts.get('disagreeing_agents', '')}"

    @property
    def cast(self) -> list[Vote]:
        """Return the votes that seats gave, first those of the views that the rule names."""
        cast = (vote for vote in self.votes if not vote.fallback)
        return sorted(cast, key=lambda vote: view_of(vote) not in self.named)

    @property
    def against(self) -> list[Vote]:
        """Return the votes that seats gave another way than the ruling, and that are not what it rests on."""
        others = (vote for vote in self.cast if not sides_with(vote.decision, self.ruling.decision))
        return [vote for vote in others if view_of(vote) not in self.named]

    @property
    def is_split(self) -> bool:
        """Return whether no way to vote has more than half of the votes, and no veto decides."""
        ways = Counter(vote.decision for vote in self.votes)
        # A veto decides alone, however the other votes are spread.
        return bool(ways) and "VETO" not in ways and 2 * max(ways.values()) <= ways.total()


def latest(events: Iterable[_E]) -> _E | None:
    """Return the last item, or None without items."""
    *_, last = (None, *events)
    return last


def ballot_of(book: Book) -> Ballot | None:
    """Return the last ruling with its votes; None without a ruling, and when it was overturned."""
    ruling = latest(book.of(Ruling))
    # A ruling has no id of its own and is addressed by its sequence number.
    facts = book.state.rulings.get(f"@{ruling.seq}") if ruling else None
    if ruling is None or (facts is not None and facts.overturned_by is not None):
        return None
    return Ballot(ruling, [vote for seq in ruling.votes if isinstance(vote := book.events[seq], Vote)])


def view_of(vote: Vote) -> str:
    """Return the view that a vote speaks for, also where the controller fills in for a lost vote."""
    # The id of a vote ends with the view, while `by` is the controller for a lost vote.
    return role_of(vote.id)


def reason_of(vote: Vote) -> str:
    """Return the sentence of a vote that states its position, else its first one."""
    stated = sentences(vote.reasoning)
    # A revision goes through its challenges first, concedes something, and states its position near the end.
    positions = (_AGAINST if vote.decision in ("REFUSE", "VETO") else _FOR, _KEPT) if vote.ballot > 1 else ()
    for position in positions:
        if matches := [sentence for sentence in stated if position.search(sentence)]:
            return matches[-1]
    return first_sentence(vote.reasoning)


def vote_text(book: Book, vote: Vote) -> str:
    """Return a vote with its risk, and what the view had voted before: `ACT, risk 20 of 100; VETO, risk 60 in …`."""
    return f"{vote.decision}, risk {vote.risk} of 100{voted_first(book, vote)}"


def votes_before(book: Book, vote: Vote) -> list[Vote]:
    """Return the votes that the view of a vote gave in an earlier ballot."""
    earlier = (first for first in book.of(Vote) if first.ballot < vote.ballot and not first.fallback)
    return [first for first in earlier if view_of(first) == view_of(vote)]


def voted_first(book: Book, vote: Vote) -> str:
    """Return after a semicolon what the view of a last vote voted at first; empty where it gave no vote then."""
    votes = votes_before(book, vote)
    return "".join(f"; {first.decision}, risk {first.risk} in the first ballot" for first in votes)


def ruling_text(book: Book) -> str:
    """Return the ruling with its basis; empty where there was no vote.

    A voter's words follow only where that vote agrees with the ruling and the votes are not split.
    """
    ballot = ballot_of(book)
    if ballot is None:
        return ""
    ruling, votes = ballot
    # The ruling counts the last ballots, so an earlier veto may rest on reasons that were withdrawn.
    veto = next((vote for vote in votes if vote.decision == "VETO"), None)
    whose = f" of {ballot.named}" if ballot.named else ""
    by_rule = f"the rule {ruling.rule.replace('_', ' ')}{whose}"
    if veto is not None and ruling.rule.endswith("veto"):
        # A view states reasons and numbers. That they are a veto, and that one refuses, is said by rules alone.
        return (
            f"{ruling.decision} by {by_rule}: {view_of(veto)} puts the risk at {veto.risk} of 100, which by rule"
            f" is a veto (from {VETO_FROM} on). {view_of(veto)}: {reason_of(veto)} ({veto.id})"
        )
    # Quoting one voter of a split vote would make that voter look like the winner.
    if ballot.is_split:
        ways = ", ".join(f"{view_of(vote)} {vote.decision}" for vote in votes)
        return f"No majority ({ways}); {by_rule} makes that {ruling.decision}."
    agreed = [vote for vote in votes if vote.decision == ruling.decision]
    # Lost votes count as REFUSE in the rule, but have no reasoning to quote.
    unheard = sum(vote.fallback for vote in agreed)
    lost = f", {unheard} of them as no vote was given" * bool(unheard)
    agreeing = (vote for vote in ballot.cast if vote not in ballot.against)
    why = next((f" {view_of(vote)}: {reason_of(vote)} ({vote.id})" for vote in agreeing), "")
    # A vote of the first ballot that was lost may decide against everything that was voted since.
    share = f"{len(agreed) or 'none'} of {len(votes)} last votes are {ruling.decision}{lost}"
    return f"{ruling.decision} by {by_rule} ({share}).{why}"


def cited_as(relation: Relation, kind: type[_E], book: Book, decision: Decision) -> list[_E]:
    """Return the events of a kind that a decision cites with a relation."""
    events = (book.by_id.get(cite.id) for cite in decision.cites if cite.relation == relation)
    return [event for event in events if isinstance(event, kind)]


def compared(book: Book, decision: Decision, event: Event) -> bool:
    """Return whether an event's round compared an option of a decision; without pairs every round did."""
    if book.state.opening.protocol != "comparative" or not decision.about:
        return True
    return not set(pairing(book.state, event.round)).isdisjoint(decision.about)


@per_book
def majority(book: Book) -> Majority | None:
    """Return which option the independent members lead to; None where there are no members."""
    # Once a decision is final, the members' votes are history and not the outcome.
    if book.state.opening.protocol != "council" or final_in_force(book.state):
        return None
    plans = tuple(plan for plan in book.of(Decision) if (plan.made_by, plan.type) == ("resolver", "round"))
    # Members decide apart, so a person who overrules one of them decides in place of all.
    if not plans or not {plan.id for plan in plans} <= {*in_force(book.state)}:
        return None
    # Only options with a shared definition count: an `O-1` of one member need not be that of another.
    known = options_of(book)
    named = Counter(option for plan in plans if (option := option_of(book, plan)) in known)
    if not named:
        return Majority(plans, None, plans)
    leading = named.most_common(1)[0][0]
    return Majority(plans, leading, tuple(plan for plan in plans if option_of(book, plan) == leading))


def option_of(book: Book, decision: Decision) -> str | None:
    """Return the option that a decision is for, by its `about` or else by its text."""
    names_options = book.state.opening.protocol in _MEMBERS and book.state.opening.options
    if names_options or len(decision.about) == 1:
        return decision.about[0] if decision.about else None
    # Where `about` does not single out an option, the text of the decision has to.
    match = _OPTION.search(decision.text)
    return match[0] if match else None


def majority_text(members: Majority) -> str:
    """Return `33 of 33 say O-2. In the words of one of them …`."""
    first, *others = members.agreeing
    # Agreement on an option, and even on a decision, is none on how it is carried out: the other plans are named, too.
    listed = some([plan.ref for plan in others], NAMED)
    plans = f"; the other {'plans' if others[1:] else 'plan'} may differ: {listed}" if others else ""
    words = f"({first.id}{plans}): {one_line(first.text)}"
    total = len(members.plans)
    if members.option is None:
        return f"{counted(total, 'member')}, naming no option. The first of them {words}"
    return f"{members.most} of {total} say {members.option}. In the words of one of them {words}"


def author_of(decision: Decision) -> str:
    """Return the person or role that decided; without either, the method that made the decision."""
    return decision.name or (decision.by if decision.step else decision.made_by.replace("_", " "))


def confidences_text(decisions: Iterable[Decision]) -> str:
    """Return the stated confidence, of 5, with those that state it: `4 (D-1-1, D-1-2), 3 (D-1-3)`."""
    stated = grouped((event.confidence, event.ref) for event in decisions if event.confidence)
    return ", ".join(f"{level} ({some(ids, NAMED)})" for level, ids in stated.items())


def scores_text(book: Book) -> str:
    """Return the totals of sides or options, or the votes, in one sentence; empty without scores."""
    if (ballot := ballot_of(book)) is not None:
        each = ", ".join(
            f"{view_of(vote)} gave no vote (counts as REFUSE{voted_first(book, vote)})"
            if vote.fallback
            else f"{view_of(vote)} {vote.decision}"
            f" ({vote.confidence}% sure that acting is right, risk {vote.risk} of 100)"
            for vote in ballot.votes
        )
        return f"Last votes, each made by rule from the numbers of its view: {each}."
    if book.state.opening.protocol == "priority":
        from rounds.protocols import priority  # the other protocols give no levels

        return (
            "Counted instead by how many options each lens puts below it, a tie as half (Borda count), the order"
            f" is: {priority.borda_text(priority.levels_of(book))}."
        )
    if book.state.opening.protocol == "comparative":
        judged = grouped(
            (frozenset(pairing(book.state, event.round)), event.about)
            for event in book.of(Decision)
            # Where a case was lost, that and not the order may have decided.
            if event.type == "round" and handed_in(book.state, event.round, "case") == 2
        )
        both = [options for options in judged.values() if options[1:]]
        turned = sum(len({*options}) > 1 for options in both)
        pairs = counted(len(both), "pair")
        survive = grouped(
            (event.side, most_say(verdicts, UPHELD))
            for event in book.of(Argument)
            if (verdicts := [row.standing for row in book.of(Standing) if row.of == event.id])
        )
        texts = [
            f"In {turned} of {pairs} judged in both orders with all cases the recommendation turned with the order."
            if both
            else "No pair was judged in both orders with all cases, so the judge may have followed the order."
        ] * (turned > 0 or not both)
        # What survives against the choice is listed with it, so both sides are counted.
        if survive:
            each = ", ".join(f"{option} {sum(kept)} of {len(kept)}" for option, kept in survive.items())
            texts.append(f"Arguments that survive, of those that the judge checked: {each}.")
        return " ".join(texts)
    return means_text(book)


def means_text(book: Book) -> str:
    """Return the mean scores of the sides of a debate, and how to read the gap (XS-14); empty without scores."""
    scored = ((book.by_id.get(score.of), Fraction(score.total)) for score in book.of(Score))
    sides = grouped((event.side, total) for event, total in scored if isinstance(event, Argument))
    if not sides:
        return ""
    from rounds.protocols.debate_judging import in_words  # as above

    apart = [
        f"{score.of} {score.claimed_total} instead of {score.total}"
        for score in book.of(Score)
        if score.claimed_total is not None and Decimal(score.claimed_total) != Decimal(score.total)
    ]
    listed = f" Totals that judges give differ from their points, which count: {some([*dict.fromkeys(apart)], NAMED)}."
    means = in_words({side: mean(totals) for side, totals in sides.items()})
    return f"Mean scores, of 10: {means}{listed * bool(apart)}"


def scorecard(book: Book) -> tuple[Card, ...]:
    """Return options that were scored by criterion, the best first: means over all judgements of each."""
    # Scores of arguments have other ids and belong to the sides of a debate.
    judged = grouped((score.of, score) for score in book.of(Score) if _OPTION.fullmatch(score.of))
    cards = (
        Card(
            option,
            {
                name: mean([Decimal(score.parts[name]) for score in scores if name in score.parts])
                for name in scores[0].parts
            },
            mean([Decimal(score.total) for score in scores]),
            tuple(f"@{score.seq}" for score in scores),
        )
        for option, scores in judged.items()
    )
    return tuple(sorted(cards, key=lambda card: -card.total))
