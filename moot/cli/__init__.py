"""The verbs, each in the file of its family, which is imported when it is used: the command line's contents."""

from __future__ import annotations

from typing import Final, NamedTuple


class Verb(NamedTuple):
    """A verb: its name, the job it is listed under, and what it does. Its function is in `moot/cli/<module>.py`."""

    name: str
    group: str
    does: str
    module: str = ""
    also: str = ""
    """A second name of the same verb, which no list shows as a row of its own."""
    first: bool = False
    """True if `moot --help` shows it, and not only `moot help --all`."""

    @property
    def path(self) -> str:
        """Return the module that holds the verb's function."""
        return f"moot.cli.{self.module or self.name}"

    @property
    def function(self) -> str:
        """Return the name of the verb's function."""
        # `import` is a keyword, and a function named `list` would hide the type in its file.
        return f"{self.name}_" if self.name in ("import", "list") else self.name


ASK: Final = "Ask a question"
STEPS: Final = "Answer step by step"
WORD: Final = "Have your say"
LOOK: Final = "Look at runs"
TRUST: Final = "Check and keep runs"
COMPARE: Final = "Compare and continue"
ELSEWHERE: Final = "Work with other tools"
HELP: Final = "Get help"

VERBS: Final[tuple[Verb, ...]] = (
    Verb("demo", ASK, "play a recorded run through the real engine; needs no key", "playback", first=True),
    Verb("run", ASK, "run a deliberation, or continue one (--resume)", first=True),
    Verb("new", ASK, "write a deliberation file, by questions or options"),
    Verb("gate", ASK, "list the protocols, or choose one for a question", "new"),
    Verb("review", ASK, "review a change in git; findings with file and line", "run"),
    Verb("next", STEPS, "show the open steps of a run, one with prompt and schema", "steps", first=True),
    Verb("submit", STEPS, "hand in one reply, or give a step up", "steps", first=True),
    Verb("answer", WORD, "answer a question that a run asks you", "people", first=True),
    Verb("override", WORD, "overturn a decision or a ruling", "people"),
    Verb("ack", WORD, "close an alarm, with a reason", "people"),
    Verb("note", WORD, "put a remark on the ledger", "people"),
    Verb("outcome", WORD, "show what a run decided; record whether it was used, and held", "people"),
    Verb("experiment", WORD, "plan, run and show claims tested by running", "people"),
    Verb(
        "status",
        LOOK,
        "show where a run stands; with an ID, one thing of it",
        "reading",
        also="show",
        first=True,
    ),
    Verb("signals", LOOK, "show the stop checks; for crux, forecasts and cruxes", first=True),
    Verb("list", LOOK, "list the runs with their answers", "reading"),
    Verb("log", LOOK, "list the events, in order", "reading"),
    Verb("claims", LOOK, "list the claims with their tests", "reading"),
    Verb("decisions", LOOK, "list the decisions with what they rest on", "reading"),
    Verb("why", LOOK, "show what a decision or a claim rests on", "reading"),
    Verb("report", LOOK, "write the run as one document, or a decision record", "documents", first=True),
    Verb("serve", LOOK, "look at runs in a browser, live or finished", "hosts", first=True),
    Verb("check", TRUST, "list every rule that the ledger breaks", "integrity", first=True),
    Verb("verify", TRUST, "verify chain, canonical bytes, head and texts", "integrity"),
    Verb("replay", TRUST, "play the events; --re-execute runs the protocol again and compares", "playback"),
    Verb("seal", TRUST, "sign the head, so that a rewritten ledger shows; make a key", "integrity"),
    Verb("redact", TRUST, "remove a text, or copy a run without a secret, on the record", "integrity"),
    Verb("rm", TRUST, "remove a run from the disk", "integrity"),
    Verb("diff", COMPARE, "show what two runs have in common and where they part", "reading"),
    Verb("fork", COMPARE, "continue from the middle of a run in a new one; compare forks"),
    Verb("study", COMPARE, "compare ways to deliberate on many questions"),
    Verb("import", ELSEWHERE, "make a run from another system's files", "documents"),
    Verb("export", ELSEWHERE, "write a run in another system's form", "documents"),
    Verb("mcp", ELSEWHERE, "serve moot to an agent host; install the skill", "hosts"),
    Verb("explain", HELP, "explain a code or a term, such as FM-4, N-1-6 or pending", "reading"),
    Verb("doctor", HELP, "say what is missing here, and the command that fixes it", "hosts"),
)
"""The command line's table of contents, job by job."""


BY_NAME: Final = {name: verb for verb in VERBS for name in (verb.name, verb.also) if name}


def find_verb(name: str) -> Verb | None:
    """Return the verb of that name, or None."""
    return BY_NAME.get(name)
