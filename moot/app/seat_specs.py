"""What a person writes for a seat: `anthropic:MODEL`, `ollama:qwen3`, `claude`, `mix:anthropic,openai` …

KIND[:MODEL][@URL]               a model seat; a URL for openai alone
command:PROGRAM ARGUMENTS        a program; claude, codex, gemini and llm are programs by name
mix:SPEC,SPEC                    one after the other over the roles, for --seats alone
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from moot.errors import MootError, usage
from roles.seats.kinds import KINDS, MIX

BY_API: Final = ("anthropic", "openai", "ollama", "openrouter")
PROGRAMS: Final = ("command", "claude", "codex", "gemini", "llm")
NEEDS_MODEL: Final[Mapping[str, str]] = {"ollama": "ollama:qwen3:8b", "openrouter": "openrouter:MAKER/MODEL"}
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
LEAVE: Final = "unset MOOT_OFFLINE, or choose host, human or tape:RUN"
NO_SEAT: Final = """\
--seats anthropic             a model by the Messages API: export ANTHROPIC_API_KEY=…; anthropic:MODEL names another one
--seats openai                a model by OpenAI: export OPENAI_API_KEY=…; openai:MODEL names another one
  OPENAI_BASE_URL=…           the same with any compatible server (vLLM, llama.cpp …)
--seats ollama:MODEL          a model of Ollama on this machine; openrouter:MAKER/MODEL one of OpenRouter
--seats claude                an agent's command line that is installed: claude, codex, gemini, llm
--seats mix:SPEC,SPEC         several of them, one after the other over the roles
--seats 'command:PROGRAM …'   a program that reads a brief and writes a reply
--seats host                  step by step: `moot next` prints a brief, `moot submit` takes your agents' or your reply
--seats human                 moot asks you here in the terminal, in $EDITOR if it is set
--seats tape:RUN              the recorded replies of another run; `moot demo` shows a whole one
Or one role at a time: --seat critic=human. `moot doctor` says what is here.
"""


class ModelSpec(NamedTuple):
    """A model seat as it was written; what was left out is None."""

    kind: str
    model: str | None
    url: str | None


def no_seat(roles: Iterable[str] = ()) -> MootError:
    """Nobody was named to answer, or nobody for some roles."""
    missing = ", ".join(roles)
    what = f"no seat for {missing}" if missing else "no seat: nobody was named to answer"
    fix = "add --seats anthropic, openai, ollama:MODEL, claude, host, human, tape:RUN or command:PROGRAM"
    return MootError("no_seat", what, "moot run", fix, more=NO_SEAT)


def read_seats(everybody: str | None, one_by_one: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """`--seats` and every `--seat ROLE=SPEC`, checked as far as no run is needed for it."""
    if everybody is not None:
        for spec in mixed(everybody):
            check_spec(spec)
    specs: dict[str, str] = {}
    for said in one_by_one:
        role, equals, spec = said.partition("=")
        if not equals or not role.strip():
            raise usage(f"--seat {said!r} names no role", "write ROLE=SPEC, such as critic=host", "--seat")
        check_spec(spec)
        specs[role.strip()] = spec
    return everybody, specs


def choose(
    roles: Iterable[str], everybody: str | None, specs: Mapping[str, str], written: Mapping[str, str]
) -> dict[str, str]:
    """Role → specification: `--seat` before `--seats` before the deliberation file. Raises when a role has none.

    A mix goes over the roles that have no seat of their own, in the order of the protocol.
    """
    known = tuple(roles)
    for role in specs:
        if role not in known:
            near = get_close_matches(role, known, 1, 0.0)
            raise usage(
                f"no role {role!r}", f"did you mean {near[0]!r}? roles are {', '.join(known)}", "--seat"
            )
    said = spoken(known, everybody, specs)
    found = {role: said.get(role) or written.get(role) for role in known}
    missing = [role for role, spec in found.items() if spec is None]
    if missing:
        raise no_seat(() if len(missing) == len(known) else missing)
    return {role: spec for role, spec in found.items() if spec is not None}


def spoken(roles: Iterable[str], everybody: str | None, specs: Mapping[str, str]) -> dict[str, str]:
    """Role → what was said for it: its own seat, or its share of what was said for all."""
    if everybody is None:
        return dict(specs)
    shares, others = mixed(everybody), [role for role in roles if role not in specs]
    return {**{role: shares[n % len(shares)] for n, role in enumerate(others)}, **specs}


def mixed(spec: str) -> tuple[str, ...]:
    """The parts of a mix; any other specification itself."""
    kind, colon, rest = spec.partition(":")
    if kind != MIX:
        return (spec,)
    parts = tuple(part.strip() for part in rest.split(",") if part.strip())
    if not colon or not parts:
        raise usage("a mix needs seats", "write mix:SPEC,SPEC, such as mix:anthropic,openai", "--seats")
    for part in parts:
        if part.partition(":")[0] == "command":
            fix = "give the program to a role of its own: --seat 'ROLE=command:PROGRAM …'"
            raise usage("a mix takes no command, which may hold a comma", fix, "--seats")
    return parts


def read_model(spec: str) -> ModelSpec:
    """A specification of a model seat, in its parts. Raises `MootError`."""
    kind, _, rest = spec.partition(":")
    model, at, url = rest.partition("@")
    if at and (kind != "openai" or "://" not in url or "@" in url):
        fix = "write KIND:MODEL, or openai:MODEL@URL without a password in the URL"
        raise usage(f"{spec!r} cannot be read", fix, "seat")
    return ModelSpec(kind, model or None, url or None)


def model_of(spec: str) -> str | None:
    """The model that a specification asks for; None where it names none, as commands and people do."""
    kind = spec.partition(":")[0]
    if kind not in BY_API:
        return None
    said = read_model(spec)
    if said.model is not None or kind not in ("anthropic", "openai"):
        return said.model
    from roles.seats.anthropic import MODEL
    from roles.seats.endpoints import MODEL as OF_OPENAI

    return MODEL if kind == "anthropic" else OF_OPENAI


def stays_here(spec: str) -> None:
    """Refuse a seat that could leave this machine, unless MOOT_OFFLINE_ALLOWS says that this kind of it does not."""
    allowed = {word.strip() for word in os.environ.get("MOOT_OFFLINE_ALLOWS", "").split(",")}
    kind = spec.partition(":")[0]
    if kind in BY_API and not ("loopback" in allowed and _is_loopback(spec)):
        article = "an" if kind[0] in "ao" else "a"
        raise usage(f"offline: {article} {kind} seat leaves this machine", LEAVE, "seat")
    if kind in PROGRAMS and "command" not in allowed:
        fix = "unset MOOT_OFFLINE, or say that it does not: MOOT_OFFLINE_ALLOWS=command"
        raise usage("offline: a program may leave this machine", fix, "seat")


def _is_loopback(spec: str) -> bool:
    """Whether a model seat asks a server on this machine, and that one nobody else."""
    from roles.seats.endpoints import is_of_cloud, ollama_url

    said = read_model(spec)
    match said.kind:
        case "anthropic":
            url = os.environ.get("ANTHROPIC_BASE_URL", "")
        case "openai":
            url = said.url or os.environ.get("OPENAI_BASE_URL", "")
        case "ollama":
            url = "" if is_of_cloud(said.model or "") else ollama_url(os.environ.get("OLLAMA_HOST", ""))
        case _:
            url = ""
    return urlsplit(url).hostname in LOOPBACK


def program_words(spec: str) -> list[str]:
    """A command in its words."""
    rest = spec.partition(":")[2]
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise usage(f"command:{rest} cannot be read: {error}", "quote it as for a shell", "seat") from None


FAMILIES: Final[Mapping[str, str]] = {
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "chatgpt": "openai",
    "claude-": "anthropic",
    "opus": "anthropic",
    "sonnet": "anthropic",
    "haiku": "anthropic",
    "fable": "anthropic",
    "llama": "ollama",
    "qwen": "ollama",
    "mistral": "ollama",
    "gemma": "ollama",
    "phi": "ollama",
    "deepseek": "ollama",
}
"""What the name of a model begins with → the kind of seat that serves it."""


def _provider_of(name: str) -> str | None:
    """Return the kind of seat for a bare model name such as `gpt-5`; None when the name tells nothing."""
    plain = name.lower()
    if "/" in plain:
        return "openrouter"
    return next((kind for family, kind in FAMILIES.items() if plain.startswith(family)), None)


def check_spec(spec: str) -> None:
    """Whether a specification of one seat can be read. Raises `MootError`."""
    kind, colon, rest = spec.partition(":")
    if kind == MIX:
        raise usage("a mix is for all roles", "write --seats mix:SPEC,SPEC", "--seats")
    if kind not in KINDS:
        if (provider := _provider_of(kind)) is not None:
            raise usage(f"no seat {spec!r}", f"did you mean {provider}:{spec}?", "seat")
        near = get_close_matches(kind, KINDS, 1, 0.0)
        raise usage(f"no seat {spec!r}", f"did you mean {near[0]!r}? seats are {', '.join(KINDS)}", "seat")
    if kind == "tape" and not rest:
        raise usage("a tape needs a run", "write tape:RUN", "seat")
    if kind == "command" and not rest.strip():
        raise usage("a command needs a program", "write 'command:PROGRAM ARGUMENTS'", "seat")
    if kind in NEEDS_MODEL and not rest.partition("@")[0]:
        raise usage(f"a seat of {kind} needs a model", f"write {NEEDS_MODEL[kind]}", "seat")
    if kind in ("host", "human") and colon:
        raise usage(f"a {kind} seat takes nothing after the colon", f"write {kind}", "seat")
    if kind in BY_API:
        read_model(spec)
