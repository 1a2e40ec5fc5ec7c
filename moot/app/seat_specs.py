"""Specifications of seats, such as `anthropic:MODEL`, `ollama:qwen3`, `claude` or `mix:anthropic,openai`.

KIND[:MODEL][@URL]               a model or a program by name; `roles/seats/registry.py` has a row for each kind
command:PROGRAM ARGUMENTS        any program
mix:SPEC,SPEC                    one after the other over the roles, for --seats alone
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple

from moot.errors import MootError, usage
from roles.seats.registry import MIX, PROVIDERS, Provider, provider_of

LEAVE: Final = "unset MOOT_OFFLINE, or choose host, human or tape:RUN"


class ModelSpec(NamedTuple):
    """Parts of a specification; parts that were left out are None."""

    row: Provider
    rest: str | None
    url: str | None


def _every_seat() -> Iterator[str]:
    """Yield a line of help for each provider, as `moot run` shows them when no seat was named."""
    several = (f"{MIX}:SPEC,SPEC", "several of them, one after the other over the roles")
    for spec, text in (*((row.example or row.name, row.help) for row in PROVIDERS.values()), several):
        yield f"--seats {shlex.quote(spec):<28} {text}\n"
    yield "Or one role at a time: --seat critic=human. `moot doctor` says what is here.\n"


def no_seat(roles: Iterable[str] = ()) -> MootError:
    """Build the error for a run without seats, or with roles that have none."""
    missing = ", ".join(roles)
    what = f"no seat for {missing}" if missing else "no seat: nobody was named to answer"
    *names, last = (row.example or name for name, row in PROVIDERS.items())
    fix = f"add --seats {', '.join(names)} or {last}"
    return MootError("no_seat", what, "moot run", fix, more="".join(_every_seat()))


def read_seats(everybody: str | None, one_by_one: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """Parse `--seats` and every `--seat ROLE=SPEC`, with all checks that need no run."""
    if everybody is not None:
        for spec in mixed(everybody):
            check_spec(spec)
    specs: dict[str, str] = {}
    for argument in one_by_one:
        role, equals, spec = argument.partition("=")
        if not equals or not role.strip():
            raise usage(
                f"--seat {argument!r} names no role", "write ROLE=SPEC, such as critic=host", "--seat"
            )
        check_spec(spec)
        specs[role.strip()] = spec
    return everybody, specs


def choose(
    roles: Iterable[str], everybody: str | None, specs: Mapping[str, str], written: Mapping[str, str]
) -> dict[str, str]:
    """Return role → specification: `--seat` wins over `--seats`, then the deliberation file.

    Raises when a role has none.

    A mix is dealt over the roles that have no seat of their own, in the order of the protocol.
    """
    known = tuple(roles)
    for role in specs:
        if role not in known:
            # A cutoff of 0 always names a role: a wrong suggestion still shows what roles look like.
            near = get_close_matches(role, known, 1, 0.0)
            raise usage(
                f"no role {role!r}", f"did you mean {near[0]!r}? roles are {', '.join(known)}", "--seat"
            )
    flags = spoken(known, everybody, specs)
    chosen = {role: flags.get(role) or written.get(role) for role in known}
    missing = [role for role, spec in chosen.items() if spec is None]
    if missing:
        raise no_seat(() if len(missing) == len(known) else missing)
    return {role: spec for role, spec in chosen.items() if spec is not None}


def spoken(roles: Iterable[str], everybody: str | None, specs: Mapping[str, str]) -> dict[str, str]:
    """Return role → specification from the command line: the role's own seat, or its share of `--seats`."""
    if everybody is None:
        return dict(specs)
    # Dealt in turn over the roles of the protocol: the same call gives the same cast.
    shares, others = mixed(everybody), [role for role in roles if role not in specs]
    return {**{role: shares[n % len(shares)] for n, role in enumerate(others)}, **specs}


def mixed(spec: str) -> tuple[str, ...]:
    """Return the parts of a mix; any other specification alone."""
    kind, colon, rest = spec.partition(":")
    if kind != MIX:
        return (spec,)
    parts = tuple(part.strip() for part in rest.split(",") if part.strip())
    if not colon or not parts:
        raise usage("a mix needs seats", "write mix:SPEC,SPEC, such as mix:anthropic,openai", "--seats")
    for part in parts:
        row = PROVIDERS.get(part.partition(":")[0])
        # Commas separate the parts of a mix, so a command with one would be cut in two programs.
        if row is not None and row.rest == "words":
            fix = f"give the program to a role of its own: --seat 'ROLE={row.example}'"
            raise usage("a mix takes no command, which may hold a comma", fix, "--seats")
    return parts


def read_spec(spec: str) -> ModelSpec:
    """Return a specification of a known kind in its parts. Raises `MootError`."""
    row, rest = provider_of(spec), spec.partition(":")[2]
    if row.runs != "api":
        return ModelSpec(row, rest or None, None)
    # The first `@` ends the model; a second one could only be a password in the address.
    model, at, url = rest.partition("@")
    # A password in a URL would end up in messages and in the process list.
    if at and (row.rest != "model@url" or "://" not in url or "@" in url):
        fix = "write KIND:MODEL, or openai:MODEL@URL without a password in the URL"
        raise usage(f"{spec!r} cannot be read", fix, "seat")
    return ModelSpec(row, model or None, url or None)


def model_of(spec: str) -> str | None:
    """Return the model that a specification asks for; None where it names none, as commands and people do."""
    row, model, _ = read_spec(spec)
    return (model or row.model) if row.runs == "api" else None


def may_cost(spec: str) -> bool:
    """Return whether replies of a specification, or of one in a mix, may cost money."""
    return any(
        row.runs == "program" or (row.runs == "api" and not row.is_free(model or ""))
        for row, model, _ in map(read_spec, mixed(spec))
    )


def stays_here(spec: str) -> None:
    """Refuse a seat that could leave this machine, unless MOOT_OFFLINE_ALLOWS covers its kind."""
    # Two exceptions that only the person can vouch for: local servers, and programs that stay here.
    allowed = {word.strip() for word in os.environ.get("MOOT_OFFLINE_ALLOWS", "").split(",")}
    row = provider_of(spec)
    if row.runs == "api" and not ("loopback" in allowed and _is_loopback(spec)):
        article = "an" if row.name[0] in "aeiou" else "a"
        raise usage(f"offline: {article} {row.name} seat leaves this machine", LEAVE, "seat")
    if row.runs == "program" and "command" not in allowed:
        fix = "unset MOOT_OFFLINE, or say that it does not: MOOT_OFFLINE_ALLOWS=command"
        raise usage("offline: a program may leave this machine", fix, "seat")


def _is_loopback(spec: str) -> bool:
    """Return whether a model seat calls a server on this machine that does not forward the call."""
    row, model, url = read_spec(spec)
    is_relayed = row.program and not row.is_free(model or "")  # Ollama passes its cloud's models on
    return row.at(url, os.environ).is_on_this_machine and not is_relayed


def check_spec(spec: str) -> None:
    """Check that a specification of one seat can be read. Raises `MootError`."""
    kind, colon, rest = spec.partition(":")
    if kind == MIX:
        raise usage("a mix is for all roles", "write --seats mix:SPEC,SPEC", "--seats")
    row = PROVIDERS.get(kind)
    if row is None:
        raise _unknown(spec, kind)
    # `openai:@http://host` has an address but no model, and is incomplete too.
    if row.is_rest_needed and not rest.partition("@")[0].strip():
        raise usage(f"a seat of {kind} needs more than its name", f"write {shlex.quote(row.example)}", "seat")
    if row.rest == "nothing" and colon:
        raise usage(f"a {kind} seat takes nothing after the colon", f"write {kind}", "seat")
    try:
        # An open quote is reported now, and not when the first step starts the program.
        shlex.split(rest if row.rest == "words" else "")
    except ValueError as error:
        raise usage(f"{spec} cannot be read: {error}", "quote it as for a shell", "seat") from None
    read_spec(spec)


def _unknown(spec: str, kind: str) -> MootError:
    """Return the refusal of an unknown seat: a bare model name such as `gpt-5` needs its provider in front."""
    # `gpt-5` alone is an easy mistake to make: each provider has a pattern of the models that it serves.
    serving = [
        row.name for row in PROVIDERS.values() if row.serves and re.fullmatch(row.serves, kind.lower())
    ]
    if serving:
        return usage(f"no seat {spec!r}", f"did you mean {serving[0]}:{spec}?", "seat")
    near = get_close_matches(kind, PROVIDERS, 1, 0.0)
    return usage(f"no seat {spec!r}", f"did you mean {near[0]!r}? seats are {', '.join(PROVIDERS)}", "seat")
