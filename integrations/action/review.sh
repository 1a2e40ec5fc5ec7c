#!/usr/bin/env bash
# Review the change. What a person or a pull request says comes by the environment, never into the text of a command.
. "${BASH_SOURCE[0]%/*}/common.sh"

cd -- "${GITHUB_WORKSPACE:-$PWD}" # the commits are here; a relative comment-file counts from here
range=${MOOT_RANGE:-}
if [ -z "$range" ]; then
  base=$(event pull_request base sha)
  head=$(event pull_request head sha)
  if [ -z "$base" ] || [ -z "$head" ]; then
    echo "::error title=moot::This is no pull request; say the input range, such as HEAD~1..HEAD."
    exit 2
  fi
  range="$base...$head"
fi

work=$(mktemp -d "$RUNNER_TEMP/moot-XXXXXX")
run=$work/run comment=${MOOT_COMMENT_FILE:-$work/comment.md} sarif=$work/findings.sarif
case $comment in /*) ;; *) comment=$PWD/$comment ;; esac
rm -f -- "$comment"
options=(--seats "$MOOT_SEATS" --protocol "${MOOT_PROTOCOL:-adversarial}" --yes --out "$run")
if [ -n "${MOOT_MAX_USD:-}" ]; then options+=(--max-usd "$MOOT_MAX_USD"); fi
gate=()
if [ -n "${MOOT_FAIL_ON:-}" ]; then gate=(--fail-on "$MOOT_FAIL_ON"); fi

# The only process that sees the keys.
with_keys() (
  for name in ANTHROPIC OPENAI OPENROUTER; do
    key=MOOT_${name}_API_KEY
    if [ -n "${!key:-}" ]; then export "${name}_API_KEY=${!key}"; fi
    unset "$key"
  done
  exec "$python" -I -m moot "$@"
)
moot() { without_secrets "$python" -I -m moot "$@"; }

code=0
as_text with_keys review "git:$range" "${options[@]}" "${gate[@]}" --format markdown --save "$comment" || code=$?
if [ ! -e "$comment" ]; then exit "$code"; fi
as_text moot review "$run" --format sarif --save "$sarif" --quiet || true

# Annotations are commands: moot escapes what they quote, and only lines that are annotations get through.
moot review "$run" --format github 2>/dev/null >"$work/annotations" || true
grep -E '^::(error|warning|notice) ' "$work/annotations" || true

output comment "$comment"
output sarif "$sarif"
output run "$run"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat -- "$comment" >>"$GITHUB_STEP_SUMMARY"; fi
exit "$code"
