# Shared by the steps of action.yml. The workspace holds files of a pull request, which may be hostile:
# Python is started isolated (-I), so that neither the working directory nor PYTHON* variables name modules,
# and nothing but the call of a model sees a key.
set -euo pipefail

place=${RUNNER_TEMP:?}/moot-action
python=$place/venv/bin/python

# without_secrets WORD…: run a command with these variables alone.
without_secrets() {
  local kept=() name
  for name in PATH HOME LANG LC_ALL TMPDIR RUNNER_TEMP SSL_CERT_FILE SSL_CERT_DIR \
    HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy \
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_CERT PIP_CACHE_DIR; do
    if [ -n "${!name+set}" ]; then kept+=("$name=${!name}"); fi
  done
  env -i "${kept[@]}" "$@"
}

# as_text WORD…: run a command whose words come from a model, a repository or a person. The log shows a line such as
# `::add-mask::` or `##[group]` of theirs as text: until the token comes, the runner obeys no line. They cannot know it.
as_text() {
  local token code=0
  token=moot-$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
  printf '\n::stop-commands::%s\n' "$token"
  "$@" 2>&1 || code=$?
  # A last line without its end must not swallow the token.
  printf '\n::%s::\n' "$token"
  return "$code"
}

# output NAME VALUE: an output of the step. A value of two lines could name another output.
output() {
  case $2 in *[$'\n\r']*) echo "::error title=moot::The value of $1 has more than one line." && return 2 ;; esac
  printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/null}"
}

# event KEY…: a value of the event, in one line, empty where there is none.
event() {
  without_secrets "$python" -I -c '
import json, sys
value = json.load(open(sys.argv[1], encoding="utf-8")) if sys.argv[1] else {}
for key in sys.argv[2:]:
    value = value.get(key) if isinstance(value, dict) else None
print("" if value is None else " ".join(str(value).split()))
' "${GITHUB_EVENT_PATH:-}" "$@"
}
