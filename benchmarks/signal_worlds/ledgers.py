"""Simulate deliberations as state directories: healthy ones, decoys, and one for each failure mode.

Tests and benchmarks use them; they follow the definitions of the failure modes. A subject has a number of issues. Roles
find them at a pace that falls as they run out, and checks settle the findings. Base rates differ between ledgers. From
`onset` on, a failure mode raises its own rate by its strength; several can be raised at once.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import orjson

from benchmarks.signal_worlds.world import PUBLISHED, World

ROLES: Final[tuple[str, ...]] = ("action", "guardian", "observer", "critic")
STANDARD: Final = {5: "critic", 10: "guardian", 12: "action", 13: "observer"}
NEEDS: Final = {1: ("action", "critic"), 2: ("guardian", "observer"), 3: ("observer", "critic"), 4: ()}
CHECKS: Final = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)
SECTION: Final = {"action": "trace", "guardian": "invariant", "observer": "step", "critic": "attack"}
MODES: Final = ("fm1", "fm2", "fm3", "fm4", "fm5i", "fm5s", "fm6", "fm7", "fm8")
DECOYS: Final = ("burst", "fragile", "narrow", "converge", "expert", "reshuffle")
OPTIONAL: Final = ("sightings", "confidence", "positions_pre", "positions_post", "flips", "findings")
OPTIONAL_TOO: Final = ("planned_stress", "anchor_ref")

FAILING: Final = {
    "giving_in": ("fm1", 0.68),
    "agreeable": ("fm1", 0.55),
    "empty": ("fm2", 0.5),
    "unanchored": ("fm3", 0.62),
    "drift": ("fm3", 0.6),
    "bossy": ("fm4", 0.72),
    "favoured": ("fm4", 0.88),
    "junk": ("fm5i", 2.2),
    "vague_junk": ("fm5i", 0.5),
    "shallow": ("fm6", 0.75),
    "flood": ("fm8", 0.9),
    "unsettled": ("fm8", 0.8),
}
"""Rate → the failure mode that raises it, and its value at full strength."""


class Setting(msgspec.Struct, frozen=True):
    """Parameters of a ledger. `shift`: largest relative deviation of base rates from the usual ones."""

    seed: int
    failures: Mapping[str, float] = msgspec.field(default_factory=dict[str, float])
    decoy: str = ""
    shift: float = 0.0
    rounds: int = 13
    seed_fields_only: bool = False
    world: World = PUBLISHED
    stress: Mapping[int, str] | None = None
    """Round → planned absence; None: the standard schedule, stretched to the length."""
    drift: tuple[int, ...] | None = None
    """Rounds with a drift check; None: every fifth."""

    @property
    def chance(self) -> str:
        """Return the seed of all draws, which for the published world must stay as it was before there were others."""
        fields = msgspec.to_builtins(self)
        world, stress, drift = fields.pop("world"), fields.pop("stress"), fields.pop("drift")
        return (
            repr(fields) if world["name"] == PUBLISHED.name else repr((fields, world["name"], stress, drift))
        )


class Simulation:
    """Simulation of one ledger. `oracle_stop`: first round after which almost nothing was left to find, or None."""

    def __init__(self, setting: Setting) -> None:
        self.rng = rng = random.Random(setting.chance)
        self.world = world = setting.world
        self.setting = setting
        self.onset = rng.randint(2, min(6, setting.rounds // 2))
        self.stress = _plan(setting.rounds) if setting.stress is None else dict(setting.stress)
        self.boss = rng.choice(ROLES)
        self.issues = self.unfound = (
            round(rng.gauss(world.issues_mean, world.issues_spread))
            if setting.decoy != "narrow"
            else rng.randint(14, 24)
        )
        self.issues = self.unfound = max(8, round(self.issues * self._shifted(1.0)))
        self.base = {
            "giving_in": self._drawn(world.giving_in),
            "agreeable": 0.0,
            "empty": self._drawn(world.empty),
            "unanchored": self._drawn(world.unanchored),
            "drift": world.drift,
            "bossy": 0.45 if setting.decoy == "expert" else 0.0,
            "favoured": 0.12 if setting.decoy == "expert" else 0.0,
            "junk": 0.0,
            "vague_junk": 0.0,
            "shallow": self._drawn(world.shallow),
            "vague": self._drawn(world.vague),
            "flood": 0.0,
            "unsettled": 0.0,
        }
        self.settling = self._drawn(world.settling)
        self.justified = 0.6 if setting.decoy == "converge" else 0.3
        self.robust = {"fragile": 0.12, "converge": 0.6}.get(setting.decoy, rng.uniform(*world.robust))
        self.oracle_stop: int | None = None
        self.pending: list[str] = []
        self.raised: dict[str, str] = {}
        self.status: dict[str, str] = {}
        self.faked: set[int] = set()
        self.empty: set[str] = set()
        self.injected: set[str] = set()
        self.rows: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("claims", "verifications", "decisions", "lead_history", "drift_checks")
        }
        for round_ in range(1, setting.rounds + 1):
            self._round(round_)

    def files(self) -> dict[str, bytes]:
        """Return the files of the state directory."""
        return {
            f"{name}.jsonl": b"".join(orjson.dumps(self._kept(row)) + b"\n" for row in rows)
            for name, rows in self.rows.items()
        }

    def _kept(self, row: dict[str, Any]) -> dict[str, Any]:
        left_out = (*OPTIONAL, *OPTIONAL_TOO) if self.setting.seed_fields_only else ()
        return {key: value for key, value in row.items() if key not in left_out}

    def _shifted(self, rate: float) -> float:
        return rate * self.rng.uniform(1 - self.setting.shift, 1 + self.setting.shift)

    def _drawn(self, mean: float) -> float:
        """A base rate of this ledger: around the mean, and shifted."""
        return self._shifted(mean * self.rng.gammavariate(9, 1 / 9))

    def _rate(self, name: str, round_: int) -> float:
        mode, failing = FAILING.get(name, ("", 0.0))
        healthy, strength = self.base[name], self.setting.failures.get(mode, 0.0)
        return healthy if round_ < self.onset else healthy + (max(failing, healthy) - healthy) * strength

    def _happens(self, name: str, round_: int) -> bool:
        return self.rng.random() < self._rate(name, round_)

    def _round(self, round_: int) -> None:
        planned = self.stress.get(round_)
        if planned and round_ >= self.onset and self.rng.random() < self.setting.failures.get("fm7", 0.0):
            self.faked.add(round_)
        skipped = round_ in self.faked and self.rng.random() < 0.4
        absent = None if skipped else planned
        present = [role for role in ROLES if role != absent]
        lead = self._lead(round_, present)
        acting: list[str] = list(ROLES) if round_ in self.faked else present
        self.rows["lead_history"].append(
            {
                "round": round_,
                "lead": lead,
                "is_stress": absent is not None,
                "absent_agent": absent,
                "planned_stress": planned,
            }
        )
        self._claims(round_, acting)
        answered = self._checks(round_, None if round_ in self.faked else absent, lead, acting)
        self._decisions(round_, answered)
        if round_ % 5 == 0 if self.setting.drift is None else round_ in self.setting.drift:
            verdict = "FAIL" if self._happens("drift", round_) else "PASS"
            row = {
                "round": round_,
                "verdict": verdict,
                "deviation_score": 1,
                "notes": "held against the goal",
            }
            self.rows["drift_checks"].append(row)
        waiting = len(self.pending) / max(1, len(self.raised))
        if self.oracle_stop is None and self.unfound <= 0.15 * self.issues and waiting <= 0.3:
            self.oracle_stop = round_

    def _lead(self, round_: int, present: list[str]) -> str:
        if self.boss in present and self._happens("bossy", round_):
            return self.boss
        led = [row["lead"] for row in self.rows["lead_history"]]
        if self.setting.decoy == "reshuffle":
            return self.rng.choice(present)
        return min(present, key=lambda role: led.count(role) + self.rng.random())

    def _claims(self, round_: int, acting: list[str]) -> None:
        self.unfound = min(self.issues, self.unfound + round(self.world.renewal * self.issues))
        share = self.unfound / self.issues
        pace = self.world.pace * (1 - 2.718281828 ** (-2.4 * share)) * (2.0 if self._bursts(round_) else 1.0)
        pace *= 1 - self.world.held_back * self.setting.failures.get("fm5s", 0.0) * (round_ >= self.onset)
        raised = [
            (role, junk)
            for role in acting
            for junk in (
                *[False] * min(4, poisson(self.rng, pace)),
                *[True] * poisson(self.rng, self._rate("junk", round_)),
                *[None] * poisson(self.rng, self._rate("flood", round_)),
            )
        ]
        for n, (role, junk) in enumerate(raised, 1):
            self.unfound = max(0, self.unfound - (junk is False))
            self._claim(f"C-{round_}-{n}", round_, role, junk is True)

    def _bursts(self, round_: int) -> bool:
        return self.setting.decoy == "burst" and round_ == self.onset

    def _claim(self, identity: str, round_: int, role: str, junk: bool) -> None:
        vague = self.rng.random() < (self._rate("vague_junk", round_) if junk else self.base["vague"])
        if not self.world.stuck or self.rng.random() >= self.world.stuck:
            self.pending.append(identity)
        self.raised[identity] = role
        self.rows["claims"].append(
            {
                "id": identity,
                "round": round_,
                "raised_by": role,
                "text": "The part fails.",
                "testable_as": "more research is needed" if vague else "a run shows whether the part fails",
                "status": "pending",
                "supersedes": None,
                "anchor_ref": None if self._happens("unanchored", round_) else "GOAL",
                "raised_at_artifact": f"artifacts/round_{round_:02d}/{role}.md#claim-1",
                "sightings": [{"role": role, "round": round_}],
            }
        )

    def _checks(self, round_: int, absent: str | None, lead: str, acting: list[str]) -> list[str]:
        answered: list[str] = []
        for check in (1, 2, 3, 4):
            identity = f"V-{round_}-{check}"
            row: dict[str, Any] = {"id": identity, "round": round_, "check": CHECKS[check - 1]}
            if (absent is not None and absent in NEEDS[check]) or (check == 4 and round_ == 1):
                row |= {"result": "NOT_APPLICABLE", "evidence_refs": [], "notes": "absent"}
                self.rows["verifications"].append(row | {"claims_affected": [], "claim_status_changes": []})
                continue
            answered.append(identity)
            self.rows["verifications"].append(row | self._verdict(identity, check, round_, lead, acting))
        return answered

    def _verdict(
        self, identity: str, check: int, round_: int, lead: str, acting: list[str]
    ) -> dict[str, Any]:
        rng = self.rng
        empty, shallow = self._happens("empty", round_), self._happens("shallow", round_)
        rest, unclear = 1 - self.robust, self.world.unclear
        weights = [self.robust, (1 - unclear) * rest, unclear * rest]
        results = rng.choices(["ROBUST", "BROKEN", "UNCLEAR"], weights)
        result = "BROKEN" if empty else results[0]
        if result != "ROBUST" and not empty and rng.random() < self._rate("agreeable", round_):
            result = "ROBUST"
        self.empty |= {identity} if empty else set()
        self.injected |= {identity} if empty or shallow else set()
        idle = empty or shallow or self._happens("unsettled", round_)
        changes = (
            []
            if idle
            else [
                self._moved(result) for _ in range(min(self.world.settles_most, poisson(rng, self.settling)))
            ]
        )
        changes = [change for change in changes if change]
        roles = NEEDS[check] or tuple(rng.sample(acting, 2))
        refs = [_ref(round_, role, rng) for role in roles] + [
            _ref(rng.randint(1, round_), role, rng)
            for role in rng.sample(ROLES, rng.randint(0, 2))
            if role in acting
        ]
        return {
            "result": result,
            "evidence_refs": [refs[0]] if shallow else refs,
            "notes": "tested",
            "confidence": rng.randint(2, 5),
            "claims_affected": [change["claim_id"] for change in changes],
            "claim_status_changes": changes,
            **self._positions(round_, lead, acting, result, identity),
        }

    def _moved(self, result: str) -> dict[str, str]:
        """Return a status change for a verdict: of a pending claim, or sometimes of one that was tested before."""
        to = {"ROBUST": "tested_confirmed", "BROKEN": "tested_refuted", "UNCLEAR": "tested_unclear"}[result]
        again = self.status and self.rng.random() < 0.03
        if not self.pending and not again:
            return {}
        claim = (
            self.rng.choice(list(self.status))
            if again
            else self.pending.pop(self.rng.randrange(len(self.pending)))
        )
        before, self.status[claim] = self.status.get(claim, "pending"), to
        return {"claim_id": claim, "from": before, "to": to}

    def _positions(
        self, round_: int, lead: str, acting: list[str], result: str, identity: str
    ) -> dict[str, Any]:
        rng, others = self.rng, ["BROKEN", "ROBUST", "UNCLEAR"]
        pre = {role: result if rng.random() < 0.64 else rng.choice(others) for role in acting}
        moves_as_one = self.world.together > 0 and rng.random() < self.world.together
        if moves_as_one and rng.random() < 0.5:
            pre = dict.fromkeys(acting, result)
        if self.world.lost and rng.random() < self.world.lost:
            return {}
        all_give_in = self._happens("giving_in", round_) if moves_as_one else None
        flips: list[dict[str, str | None]] = []
        for role in acting:
            if lead in pre and pre[role] != pre[lead]:
                if self._happens("giving_in", round_) if all_give_in is None else all_give_in:
                    flips.append({"role": role, "to": pre[lead], "because": None})
                    self.injected.add(identity)
                elif rng.random() < self.justified:
                    flips.append({"role": role, "to": pre[lead], "because": _ref(round_, lead, rng)})
        post = pre | {str(flip["role"]): flip["to"] for flip in flips}
        return {"positions_pre": pre, "positions_post": post, "flips": flips}

    def _decisions(self, round_: int, verdicts: list[str]) -> None:
        own = [claim for claim, role in self.raised.items() if role == self.boss]
        recent = list(self.raised)[-25:]
        for n in range(1, self.rng.choice([1, 2, 2, 3]) + 1):
            picked = [
                self.rng.choice(own if own and self._happens("favoured", round_) else recent)
                for _ in range(self.rng.randint(1, 3))
                if recent
            ]
            cites = [{"type": "claim", "id": c, "relation": "based-on"} for c in dict.fromkeys(picked)]
            cites += [
                {"type": "verification", "id": v, "relation": "supported-by"}
                for v in verdicts
                if v not in self.empty and self.rng.random() < (0.95 if self._is_idle_break(v) else 0.15)
            ]
            row = {"id": f"D-{round_}-{n}", "round": round_, "text": "Do it this way.", "cites": cites}
            anchor = None if self._happens("unanchored", round_) else "GOAL"
            row |= {"made_by": "round_lead", "round_artifact_refs": [], "anchor_ref": anchor}
            self.rows["decisions"].append(row)

    def _is_idle_break(self, identity: str) -> bool:
        """Return whether a verdict is BROKEN and moved no claim; in a healthy run a decision then cites it."""
        row = next(row for row in reversed(self.rows["verifications"]) if row["id"] == identity)
        return row["result"] == "BROKEN" and not row["claim_status_changes"]


def _plan(rounds: int) -> dict[int, str]:
    """Return round → absent role: the standard schedule, stretched to the number of rounds."""
    if rounds == 13:
        return dict(STANDARD)
    numbers = [max(3, round(rounds * part)) for part in (0.38, 0.77, 0.92, 1.0)]
    return dict(zip(numbers, STANDARD.values(), strict=True))


def _ref(round_: int, role: str, rng: random.Random) -> str:
    number = f"-{rng.randint(1, 9)}" if rng.random() < 0.96 else ""
    return f"artifacts/round_{round_:02d}/{role}.md#{SECTION[role]}{number}"


def poisson(rng: random.Random, mean: float) -> int:
    """Draw a count from a Poisson distribution."""
    threshold, product, count = 2.718281828459045**-mean, rng.random(), 0
    while product > threshold:
        product *= rng.random()
        count += 1
    return count


def shuffled(files: Mapping[str, bytes], seed: int) -> dict[str, bytes]:
    """Return the same directory with the lines of every file shuffled."""
    rng = random.Random(seed)
    lines = {name: content.splitlines(keepends=True) for name, content in files.items()}
    return {name: b"".join(rng.sample(rows, len(rows))) for name, rows in lines.items()}
