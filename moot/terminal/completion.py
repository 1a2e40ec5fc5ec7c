"""Completion scripts: the verbs and options as they are when the script is made, the run ids as they are at the Tab."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple


class Completed(NamedTuple):
    """A verb with the options that can follow it; `takes_run`: a run id can stand behind it."""

    verb: str
    does: str
    options: tuple[str, ...]
    takes_run: bool


def bash(verbs: Sequence[Completed]) -> str:
    """For bash: `eval "$(moot completion bash)"`."""
    cases = "\n".join(f"    {verb.verb}) options='{' '.join(verb.options)}' ;;" for verb in verbs)
    return f"""\
_moot() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options= runs=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(verb.verb for verb in verbs)} --help --version" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *)
      runs="@last $(cd "${{MOOT_RUNS:-runs}}" 2>/dev/null && ls -d */ examples/*/ 2>/dev/null | sed 's:/$::')"
      COMPREPLY=($(compgen -W "$runs" -- "$word") $(compgen -f -- "$word"))
      ;;
  esac
}}
complete -o filenames -F _moot moot
"""


def zsh(verbs: Sequence[Completed]) -> str:
    """For zsh: `eval "$(moot completion zsh)"`."""
    described = "\n".join(f"    '{verb.verb}:{_quoted(verb.does)}'" for verb in verbs)
    cases = "\n".join(f"    {verb.verb}) options=({' '.join(verb.options)}) ;;" for verb in verbs)
    return f"""\
#compdef moot
_moot() {{
  local -a verbs options runs
  verbs=(
{described}
  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  case $words[2] in
{cases}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    compadd -- $options
  else
    runs=(@last ${{MOOT_RUNS:-runs}}/*(/N:t))
    compadd -- $runs
    _files
  fi
}}
compdef _moot moot
"""


def fish(verbs: Sequence[Completed]) -> str:
    """For fish: `moot completion fish | source`."""
    lines = ["complete -c moot -f -n __fish_use_subcommand -a '--help --version'"]
    for verb in verbs:
        lines.append(f"complete -c moot -f -n __fish_use_subcommand -a {verb.verb} -d '{_quoted(verb.does)}'")
        seen = f"__fish_seen_subcommand_from {verb.verb}"
        lines += [f"complete -c moot -n '{seen}' -l {option[2:]}" for option in verb.options]
        if verb.takes_run:
            runs = "(echo @last; command ls ${MOOT_RUNS} runs 2>/dev/null)".replace(
                "${MOOT_RUNS}", "$MOOT_RUNS"
            )
            lines.append(f"complete -c moot -n '{seen}' -a '{runs}'")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("'", "").replace(":", " –")


SCRIPTS: Final[Mapping[str, Callable[[Sequence[Completed]], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
"""Shell → its script."""
