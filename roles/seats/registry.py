"""Registry of seats: one row per provider, which holds everything that differs between providers.

To add a provider, add a row here and an adapter: a module with `seat_of(wanted: Wanted) -> Seat`. A server that speaks
the Chat Completions API needs no adapter of its own. `moot run`, `moot doctor`, estimates, budgets, offline mode and
model families read the rows.

    runs        answered by                           consequences
    api         a model behind an address             masked, priced, refused offline
    program     a program on this machine             masked, price unknown, started only with the user's consent
    outside     replies submitted from outside        the engine sends no request
    person      a person at the terminal              takes no tokens
    recording   the replies of another run            takes no tokens, plays no other step
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple
from urllib.parse import urlsplit

from ledger.events.envelope import SeatKind
from roles.seats.manner import Form, Limit

if TYPE_CHECKING:
    from ledger.state.book import Book
    from roles.seats.port import Ask
    from roles.seats.prices import Prices

TOKENS_OUT_MAX: Final = 24_000
"""Limit of one reply in tokens, thinking included."""
SMALL_TOKENS_OUT_MAX: Final = 8_192
"""The same for servers of open models: prompt and reply share a context, and theirs is smaller."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def runs_here(model: str) -> bool:
    """Return whether Ollama runs a model on its own machine, unlike `gpt-oss:120b-cloud` and `glm-4.6:cloud`."""
    return not model.endswith(("-cloud", ":cloud"))


def ollama_url(host: str) -> str:
    """Return OLLAMA_HOST as an address. Defaults: `http://`, this machine, port 11434."""
    parts = urlsplit(host if "://" in host else f"http://{host}")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80 if "://" in host else 11434)
    except ValueError:
        # A bad port is reported when the seat is checked before the first request, where there is a message for it.
        return host
    # A server may listen at 0.0.0.0, but a client cannot connect to that address.
    name = (parts.hostname or "127.0.0.1").replace("0.0.0.0", "127.0.0.1")
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}{parts.path.rstrip('/')}/v1"


class Sdk(NamedTuple):
    """SDK of an API: its package, the requirement to install, and the base class of its errors."""

    package: str
    requirement: str
    error: str

    @property
    def fix(self) -> str:
        """Return the command that installs it."""
        return f"pip install '{self.requirement}'"


ANTHROPIC_SDK: Final = Sdk("anthropic", "anthropic>=2.12", "AnthropicError")
OPENAI_SDK: Final = Sdk("openai", "openai>=3.54", "OpenAIError")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """Row of the registry."""

    name: str
    """The first word of a specification; for a model also `call.provider`."""
    help: str
    """Line in the help of `moot run`."""
    runs: Literal["api", "program", "outside", "person", "recording"]
    seat: SeatKind
    """`call.seat` in the ledger."""
    adapter: str
    """Module with its `seat_of`."""
    rest: Literal["nothing", "model", "model@url", "run", "words"] = "model"
    """Content of a specification after the colon."""
    example: str = ""
    """A specification that names everything; empty where the name is enough."""
    is_rest_needed: bool = False
    family: str | None = None
    """Family of all its models; None when it follows from the name of the model."""
    model: str | None = None
    """Default model of a specification that names none."""
    serves: str = ""
    """Pattern of bare model names that are suggested for it."""

    sdk: Sdk | None = None
    key: str | None = None
    """Environment variable of its key. A key is only ever sent to the address of its row, or of its variable."""
    needs_key: bool = False
    address: str = ""
    address_variable: str = ""
    read_address: Callable[[str], str] = str
    """Converts the variable's value into an address."""
    is_free: Callable[[str], bool] = lambda _: False
    """Returns whether a model costs nothing because it runs on the user's own machine."""

    forms: tuple[Form, ...] = ("step", "json_object", "text")
    limits: tuple[Limit, ...] = ("max_tokens", "max_completion_tokens")
    tokens_out_max: int = SMALL_TOKENS_OUT_MAX
    says_usd: bool = False
    """Whether the service reports the cost of a reply."""
    takes_cache_key: bool = False
    no_model: str = (
        "no such model or address: check the model's name and the address, which mostly ends in /v1"
    )
    """Message for a 404; `{model}` is replaced by the model."""

    program: str = ""
    """Program that `moot doctor` looks for."""
    open_to_it: str = ""
    """Things a program can read or do besides its prompt."""

    @property
    def grammar(self) -> str:
        """Return the form of a specification for help texts, with the optional part in brackets."""
        is_optional = self.rest in ("model", "model@url") and not self.is_rest_needed
        return f"{self.name}[:MODEL]" if is_optional else self.example or self.name

    @property
    def key_value(self) -> str:
        """Return the key from the environment, or an empty string."""
        # A pasted key often ends in a line feed, which no header may hold.
        return os.environ.get(self.key, "").strip() if self.key else ""

    @property
    def key_name(self) -> str:
        """Return the variable that holds the key, in words."""
        return self.key or "its configuration"

    @property
    def no_key(self) -> str:
        """Return what to do about a missing key."""
        return f"no key: export {self.key}=…"

    def at(self, url: str | None, environment: Mapping[str, str]) -> Provider:
        """Return the row with the address from the specification or the environment.

        Another server in place of OpenAI's becomes `compatible`: it gets its own key and only the fields that every
        compatible server accepts.
        """
        named = environment.get(self.address_variable, "")
        address = url or (self.read_address(named) if named else self.address)
        if self.rest != "model@url" or urlsplit(address).hostname == urlsplit(self.address).hostname:
            return replace(self, address=address)
        # OPENAI_API_KEY was not issued for a URL in a specification, so it is never sent there.
        # OPENAI_BASE_URL comes from the same environment as the key.
        key = "OPENAI_COMPATIBLE_API_KEY" if url else self.key
        return replace(COMPATIBLE, address=address, key=key)

    @property
    def is_on_this_machine(self) -> bool:
        """Return whether the address is this machine."""
        return urlsplit(self.address).hostname in LOOPBACK


OPENAI: Final = "roles.seats.openai"
PRESETS: Final = "roles.seats.presets"
_served = partial(Provider, runs="api", seat="openai", adapter=OPENAI, sdk=OPENAI_SDK)
_agent = partial(Provider, runs="program", seat="command", adapter=PRESETS)
COMPATIBLE: Final = _served(name="compatible", help="")
ROWS: Final = (
    Provider(
        name="anthropic",
        help="a model by the Messages API: export ANTHROPIC_API_KEY=…; anthropic:MODEL names another one",
        runs="api",
        seat="anthropic",
        adapter="roles.seats.anthropic",
        family="claude",
        model="claude-sonnet-5-5",
        serves=r"(claude-|opus|sonnet|haiku|fable).*",
        sdk=ANTHROPIC_SDK,
        key="ANTHROPIC_API_KEY",
        needs_key=True,
        address="https://api.anthropic.com",
        address_variable="ANTHROPIC_BASE_URL",
        forms=("envelope", "text"),
        limits=("max_tokens",),
        tokens_out_max=TOKENS_OUT_MAX,
        no_model="no such model or address: check the model's name and ANTHROPIC_BASE_URL",
    ),
    _served(
        name="openai",
        help="a model by OpenAI: export OPENAI_API_KEY=…; OPENAI_BASE_URL or openai:MODEL@URL name a compatible server",
        rest="model@url",
        example="openai:MODEL",
        model="gpt-6.2-sol",
        serves=r"(gpt|chatgpt|o[134])[^/]*",
        key="OPENAI_API_KEY",
        needs_key=True,
        address="https://api.openai.com/v1",
        address_variable="OPENAI_BASE_URL",
        forms=("envelope", "json_object", "text"),
        limits=("max_completion_tokens", "max_tokens"),
        tokens_out_max=TOKENS_OUT_MAX,
        takes_cache_key=True,
        no_model="no such model or address: check the model's name and OPENAI_BASE_URL",
    ),
    _served(
        name="ollama",
        help="a model of Ollama on this machine, or at OLLAMA_HOST",
        example="ollama:MODEL",
        is_rest_needed=True,
        serves=r"(llama|qwen|mistral|gemma|phi|deepseek)[^/]*",
        address="http://127.0.0.1:11434/v1",
        address_variable="OLLAMA_HOST",
        read_address=ollama_url,
        is_free=runs_here,
        no_model="no such model there: ollama pull {model}",
        program="ollama",
    ),
    _served(
        name="openrouter",
        help="a model of OpenRouter: export OPENROUTER_API_KEY=…",
        example="openrouter:MAKER/MODEL",
        is_rest_needed=True,
        serves=r".*/.*",
        key="OPENROUTER_API_KEY",
        needs_key=True,
        address="https://openrouter.ai/api/v1",
        forms=("envelope", "json_object", "text"),
        tokens_out_max=TOKENS_OUT_MAX,
        says_usd=True,
        no_model="no such model there: https://openrouter.ai/models lists them, as MAKER/MODEL",
    ),
    _agent(
        name="claude",
        help="Claude Code, where it is installed",
        family="claude",
        program="claude",
        open_to_it="no tools and no MCP servers; its settings and the user's CLAUDE.md are read",
    ),
    _agent(
        name="codex",
        help="Codex, where it is installed",
        family="gpt",
        program="codex",
        open_to_it="a read-only sandbox: it can read the machine's files and run commands that change nothing",
    ),
    _agent(
        name="gemini",
        help="Gemini CLI, where it is installed",
        family="gemini",
        program="gemini",
        open_to_it="tools that need a yes are refused; it can read files, and its settings and GEMINI.md are read",
    ),
    _agent(
        name="llm",
        help="the program llm, where it is installed, with a model of its own",
        program="llm",
        open_to_it="no tools; its own model settings are read",
    ),
    Provider(
        name="command",
        help="a program that reads a brief and writes a reply",
        runs="program",
        seat="command",
        adapter="roles.seats.command",
        rest="words",
        example="command:PROGRAM",
        is_rest_needed=True,
    ),
    Provider(
        name="host",
        help="step by step: `moot next` prints a brief, `moot submit` takes your agents' or your reply",
        runs="outside",
        seat="host",
        adapter="roles.seats.host",
        rest="nothing",
    ),
    Provider(
        name="human",
        help="moot asks you here in the terminal, in $EDITOR if it is set",
        runs="person",
        seat="human",
        adapter="roles.seats.host",
        rest="nothing",
    ),
    Provider(
        name="tape",
        help="the recorded replies of another run; `moot demo` shows a whole one",
        runs="recording",
        seat="tape",
        adapter="roles.seats.tape",
        rest="run",
        example="tape:RUN",
        is_rest_needed=True,
    ),
)
PROVIDERS: Final[dict[str, Provider]] = {row.name: row for row in ROWS}
DEFAULT: Final = "anthropic"
"""Seat whose prices an estimate uses when no seat is named."""
MIX: Final = "mix"
"""Prefix of a specification of several seats: `mix:anthropic,openai`."""


class Wanted(NamedTuple):
    """Parts of a seat specification, with the functions of the shell that an adapter may need."""

    row: Provider
    rest: str
    """Text after the colon, without an address; may be empty."""
    url: str | None
    prices: Callable[[], Prices]
    book: Callable[[str], Book]
    """Reads the run of a tape."""
    ask: Callable[[], Ask]
    """Returns the function that asks the person."""
    delay_seconds: float
    """Delay of every recorded reply."""


MAKERS: Final[Mapping[str, str]] = {
    "claude": "anthropic",
    "gpt": "openai",
    "o": "openai",
    "chatgpt": "openai",
    "codex": "openai",
    "gemini": "google",
    "gemma": "google",
    "llama": "meta",
    "qwen": "alibaba",
    "qwq": "alibaba",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "magistral": "mistral",
    "grok": "xai",
    "phi": "microsoft",
    "glm": "zhipu",
    "kimi": "moonshot",
}
"""Prefix of a model's name → its maker, whichever service hosts it."""
# These names are all OpenAI's, so a panel of them must not count as several families.
_SIBLINGS: Final[Mapping[str, str]] = {"o": "gpt", "chatgpt": "gpt", "codex": "gpt"}
_NAME: Final = re.compile(r"[A-Za-z]+")


def provider_of(spec: str) -> Provider:
    """Return the row for a specification, or for the declaration of a seat in an opening. Raises `KeyError`."""
    return PROVIDERS[spec.partition(":")[0]]


def family_name(model: str | None) -> str | None:
    """Return the leading letters of a model's name without its maker.

    `qwen` for `qwen3:8b`, `claude` for `anthropic/claude-opus-5-5`.
    """
    # OpenRouter puts the maker in front (`MAKER/MODEL`); the maker is not the family.
    name = _NAME.match((model or "").rpartition("/")[2])
    family = name[0].lower() if name else None
    return _SIBLINGS.get(family, family) if family else None


def declared_of(spec: str) -> str:
    """Return the declaration of a seat in an opening: its kind, and the model family unless the kind implies it."""
    kind, _, rest = spec.partition(":")
    row = PROVIDERS.get(kind)
    tells = row is not None and row.family is None and row.rest in ("model", "model@url")
    family = family_name(rest.partition("@")[0]) if tells else None
    return f"{kind}:{family}" if family else kind
