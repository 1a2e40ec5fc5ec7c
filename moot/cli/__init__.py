"""The verbs, each in a file that is imported when it is used. This table is the command line's table of contents."""

from __future__ import annotations

from typing import Final, NamedTuple


class Verb(NamedTuple):
    """A verb: its name, the group it is listed under, and what it does. Its function is in `moot/cli/<module>.py`."""

    name: str
    group: str
    does: str
    module: str = ""
    also: str = ""
    """A second name of the same verb, which no list shows as a row of its own."""

    @property
    def path(self) -> str:
        """The module that holds the verb's function."""
        return f"moot.cli.{self.module or self.name}"

    @property
    def function(self) -> str:
        """The name of the verb's function."""
        name = self.name.replace("-", "_")
        return f"{name}_" if name == "import" else name


VERBS: Final[tuple[Verb, ...]] = (
    Verb("demo", "Start", "play a recorded real run through the real engine; needs no key"),
    Verb("new", "Start", "write a deliberation file, by questions or flags"),
    Verb("gate", "Start", "the protocols, and which one a question deserves"),
    Verb("run", "Start", "run a deliberation, or go on with one (--resume)"),
    Verb("review", "Start", "review a change in git; findings with file and line"),
    Verb("next", "Step by step", "the steps that can run now; one with brief and schema", "steps"),
    Verb("submit", "Step by step", "hand in one reply, or give a step up", "steps"),
    Verb("answer", "Your own word", "answer a question that was put to you", "people"),
    Verb("override", "Your own word", "overturn a decision or a ruling", "people"),
    Verb("ack", "Your own word", "close an alarm, with a reason", "people"),
    Verb("note", "Your own word", "put a remark on the ledger", "people"),
    Verb("outcome", "Your own word", "show what a run decided; record whether it was used, and held"),
    Verb("experiment", "Your own word", "plan, run and show claims tested by running"),
    Verb("list", "Look", "the runs with their answers"),
    Verb("status", "Look", "where a run stands; with an ID, one thing of it", also="show"),
    Verb("log", "Look", "the events, in order"),
    Verb("claims", "Look", "claims with their lifecycles"),
    Verb("decisions", "Look", "decisions with what they rest on"),
    Verb("why", "Look", "what a decision or a claim rests on"),
    Verb("signals", "Look", "stop checks; for crux, forecasts and what each test is worth"),
    Verb("query", "Look", "questions about many runs, in SQL"),
    Verb("study", "Look", "many questions, several ways to deliberate, and what differs"),
    Verb("report", "Look", "the whole run as one document"),
    Verb("serve", "Look", "look at runs in a browser, live or finished"),
    Verb("check", "Trust", "every rule that the ledger breaks"),
    Verb("verify", "Trust", "chain, canonical bytes, head and blobs"),
    Verb("seal", "Trust", "sign the head, so that a later rewriting shows"),
    Verb("rm", "Trust", "remove a run from the disk"),
    Verb("redact", "Trust", "remove a blob, or copy a run without a secret, on the record"),
    Verb("replay", "Trust", "play the events; --re-execute runs the protocol again and compares"),
    Verb("diff", "Trust", "what two runs have in common and where they part"),
    Verb("fork", "Trust", "a new run that shares the beginning of another; compare forks"),
    Verb("calibrate", "Trust", "thresholds from your own healthy runs"),
    Verb("import", "Exchange", "make a run from another system's files", "exchange"),
    Verb("export", "Exchange", "write a run in another system's form", "exchange"),
    Verb("mcp", "Tools", "serve the verbs to an agent host; install the skill"),
    Verb("explain", "Help", "what a code or term means: FM-4, N-1-6, pending, exit code 4"),
    Verb("doctor", "Help", "what is missing here, and the line that fixes it"),
)


BY_NAME: Final = {name: verb for verb in VERBS for name in (verb.name, verb.also) if name}


def find_verb(name: str) -> Verb | None:
    """The verb of that name."""
    return BY_NAME.get(name)
