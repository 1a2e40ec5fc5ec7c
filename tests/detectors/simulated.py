"""Simulated deliberations as state directories: healthy ones, decoys, and one for each failure mode.

Written for the tests, from the definitions of the failure modes and not from anybody's labelled data. Base rates vary
from ledger to ledger below what is tolerated; from `onset` on a failure mode pushes its own rate up by `strength`.
"""

from __future__ import annotations

import random
from typing import Any, Final

import orjson

ROLES: Final = ("action", "guardian", "observer", "critic")
STRESS: Final = {5: "critic", 10: "guardian", 12: "action", 13: "observer"}
NEEDS: Final = {1: ("action", "critic"), 2: ("guardian", "observer"), 3: ("observer", "critic"), 4: ()}
CHECKS: Final = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)
MODES: Final = ("fm1", "fm2", "fm3", "fm4", "fm5i", "fm5s", "fm6", "fm7", "fm8")
DECOYS: Final = ("burst", "robust", "few_claims")


class Simulation:
    """One ledger. `mode` is "healthy", one of MODES or one of DECOYS."""

    def __init__(self, seed: int, mode: str = "healthy", strength: float = 1.0) -> None:
        self.rng = random.Random(f"{seed}/{mode}/{strength}")
        self.mode, self.strength = mode, strength
        self.onset = self.rng.randint(3, 6)
        shift = self.rng.uniform(0.7, 1.1)
        self.giving_in = 0.12 * shift
        self.pro_forma = 0.015 * shift
        self.unanchored = 0.17 * shift
        self.shallow = 0.05 * shift
        self.vague = 0.08 * shift
        self.unlinked = 0.25 * shift
        self.boss = self.rng.choice(ROLES)
        self.open: list[str] = []
        self.raised: dict[str, str] = {}
        self.status: dict[str, str] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("claims", "verifications", "decisions", "lead_history", "drift_checks")
        }

    def _pushed(self, mode: str, round_: int, healthy: float, failing: float) -> float:
        if self.mode != mode or round_ < self.onset:
            return healthy
        return healthy + (failing - healthy) * self.strength

    def files(self) -> dict[str, bytes]:
        """The state directory, thirteen rounds long."""
        for round_ in range(1, 14):
            self._round(round_)
        return {
            f"{name}.jsonl": b"".join(orjson.dumps(row) + b"\n" for row in rows)
            for name, rows in self.rows.items()
        }

    def _round(self, round_: int) -> None:
        absent = STRESS.get(round_)
        faked = self.mode == "fm7" and absent is not None and round_ >= self.onset
        present = [role for role in ROLES if role != absent]
        lead = self._lead(round_, present)
        listed = {role: self.rng.randint(2, 6) for role in present}
        starving = self._pushed("fm5s", round_, self.unlinked, 1.6)
        findings = {
            role: {"listed": n, "unlinked": min(n, _poisson(self.rng, starving))}
            for role, n in listed.items()
        }
        self.rows["lead_history"].append(
            {
                "round": round_,
                "lead": lead,
                "is_stress": absent is not None,
                "absent_agent": absent,
                "planned_stress": absent,
                "findings": findings,
            }
        )
        self._claims(round_, present)
        verdicts = self._checks(round_, None if faked else absent, lead, present)
        self._decisions(round_, verdicts)
        if round_ in (5, 10):
            failed = self.mode == "fm3" and round_ >= self.onset and self.rng.random() < 0.5 * self.strength
            verdict = "FAIL" if failed else "PASS"
            self.rows["drift_checks"].append(
                {"round": round_, "verdict": verdict, "deviation_score": 1, "notes": "held against the goal"}
            )

    def _lead(self, round_: int, present: list[str]) -> str:
        bossy = self._pushed("fm4", round_, 0.0, 0.85)
        if self.boss in present and self.rng.random() < bossy:
            return self.boss
        led = [row["lead"] for row in self.rows["lead_history"]]
        return min(present, key=led.count)

    def _claims(self, round_: int, present: list[str]) -> None:
        mean = {True: 1.35, False: 1.1}[round_ < 7] * (0.6 if self.mode == "few_claims" else 1.0)
        mean = self._pushed("fm5i", round_, mean, 3.2)
        mean = self._pushed("fm8", round_, mean, 1.9)
        if self.mode == "burst" and round_ == 4:
            mean = 2.4
        raised = [role for role in present for _ in range(_poisson(self.rng, mean))] or [
            self.rng.choice(present)
        ]
        for n, role in enumerate(raised, 1):
            identity = f"C-{round_}-{n}"
            anchored = self.rng.random() >= self._pushed("fm3", round_, self.unanchored, 0.75)
            vague = self.rng.random() < self._pushed("fm5i", round_, self.vague, 0.5)
            self.open.append(identity)
            self.raised[identity] = role
            self.rows["claims"].append(
                {
                    "id": identity,
                    "round": round_,
                    "raised_by": role,
                    "text": f"The {n}th part fails in round {round_}.",
                    "testable_as": "more research is needed"
                    if vague
                    else "a run shows whether the part fails",
                    "status": "pending",
                    "supersedes": None,
                    "anchor_ref": "GOAL" if anchored else None,
                }
            )

    def _checks(self, round_: int, absent: str | None, lead: str, present: list[str]) -> list[str]:
        answered: list[str] = []
        for check in (1, 2, 3, 4):
            identity = f"V-{round_}-{check}"
            row: dict[str, Any] = {"id": identity, "round": round_, "check": CHECKS[check - 1]}
            if (absent is not None and absent in NEEDS[check]) or (check == 4 and round_ == 1):
                row |= {"result": "NOT_APPLICABLE", "evidence_refs": [], "notes": "absent"}
                self.rows["verifications"].append(row | {"claims_affected": [], "claim_status_changes": []})
                continue
            answered.append(identity)
            self.rows["verifications"].append(row | self._verdict(round_, lead, present))
        return answered

    def _verdict(self, round_: int, lead: str, present: list[str]) -> dict[str, Any]:
        rng = self.rng
        empty = rng.random() < self._pushed("fm2", round_, self.pro_forma, 0.6)
        robust = 0.65 if self.mode == "robust" else 0.4
        result = "BROKEN" if empty else rng.choices(["ROBUST", "BROKEN", "UNCLEAR"], [robust, 0.35, 0.25])[0]
        shallow = not empty and rng.random() < self._pushed("fm6", round_, self.shallow, 0.8)
        testing = 0 if empty or shallow else rng.choices([1, 2, 3], [0.45, 0.35, 0.2])[0]
        if self.mode == "fm8" and round_ >= self.onset and rng.random() < 0.85 * self.strength:
            testing = 0 if result != "BROKEN" else 1
        changes = [self._moved(result) for _ in range(testing)]
        deep = f"artifacts/round_{round_:02d}/{present[0]}.md"
        refs = [f"{deep}#trace"] if shallow else [f"{deep}#step-{rng.randint(1, 9)}", f"{deep}#attack-2"]
        return {
            "result": result,
            "evidence_refs": refs,
            "notes": "tested",
            "claims_affected": [change["claim_id"] for change in changes],
            "claim_status_changes": changes,
            **self._positions(round_, lead, present, result),
        }

    def _moved(self, result: str) -> dict[str, str]:
        """A claim that the verdict moves: a pending one, or one that is tested again when none is pending."""
        to = {"ROBUST": "tested_confirmed", "BROKEN": "tested_refuted", "UNCLEAR": "tested_unclear"}[result]
        pending = self.open
        claim = (
            pending.pop(self.rng.randrange(len(pending))) if pending else self.rng.choice(list(self.status))
        )
        before = self.status.get(claim, "pending")
        self.status[claim] = to
        return {"claim_id": claim, "from": before, "to": to}

    def _positions(self, round_: int, lead: str, present: list[str], result: str) -> dict[str, Any]:
        rng = self.rng
        pre = {
            role: rng.choices([result, "BROKEN", "ROBUST", "UNCLEAR"], [0.5, 0.2, 0.2, 0.1])[0]
            for role in present
        }
        flips = []
        for role in present:
            if pre[role] != pre[lead]:
                if rng.random() < self._pushed("fm1", round_, self.giving_in, 0.9):
                    flips.append({"role": role, "to": pre[lead], "because": None})
                elif rng.random() < 0.15:
                    because = f"artifacts/round_{round_:02d}/{lead}.md#attack-9"
                    flips.append({"role": role, "to": pre[lead], "because": because})
        post = pre | {flip["role"]: flip["to"] for flip in flips}
        return {"positions_pre": pre, "positions_post": post, "flips": flips}

    def _decisions(self, round_: int, verdicts: list[str]) -> None:
        for n in range(1, self.rng.randint(1, 2) + 1):
            favoured = self._pushed("fm4", round_, 0.0, 0.9)
            own = [claim for claim, role in self.raised.items() if role == self.boss]
            picked = [
                self.rng.choice(own)
                if own and self.rng.random() < favoured
                else self.rng.choice(list(self.raised))
                for _ in range(self.rng.randint(1, 2))
            ]
            cites = [
                {"type": "claim", "id": claim, "relation": "based-on"} for claim in dict.fromkeys(picked)
            ]
            if verdicts and self.mode != "fm2":
                cites.append(
                    {"type": "verification", "id": self.rng.choice(verdicts), "relation": "supported-by"}
                )
            anchored = self.rng.random() >= self._pushed("fm3", round_, self.unanchored, 0.75)
            self.rows["decisions"].append(
                {
                    "id": f"D-{round_}-{n}",
                    "round": round_,
                    "text": "Do it this way.",
                    "cites": cites,
                    "made_by": "round_lead",
                    "round_artifact_refs": [],
                    "anchor_ref": "GOAL" if anchored else None,
                }
            )


def _poisson(rng: random.Random, mean: float) -> int:
    threshold, product, count = 2.718281828459045**-mean, rng.random(), 0
    while product > threshold:
        product *= rng.random()
        count += 1
    return count


def shuffled(files: dict[str, bytes], seed: int) -> dict[str, bytes]:
    """The same directory with the lines of every file in another order."""
    rng = random.Random(seed)
    lines = {name: content.splitlines(keepends=True) for name, content in files.items()}
    return {name: b"".join(rng.sample(rows, len(rows))) for name, rows in lines.items()}
