#!/usr/bin/env bash
# The review step of action.yml. What a person or a pull request says comes by the environment, never into the text of a command.
set -euo pipefail

said() { # said KEY…: a value of the event, empty where there is none
  python - "${GITHUB_EVENT_PATH:-}" "$@" <<'PY'
import json, sys
found = json.load(open(sys.argv[1], encoding="utf-8")) if sys.argv[1] else {}
for key in sys.argv[2:]:
    found = found.get(key) if isinstance(found, dict) else None
print("" if found is None else found)
PY
}

range=${MOOT_RANGE:-}
if [ -z "$range" ]; then
  base=$(said pull_request base sha)
  head=$(said pull_request head sha)
  if [ -z "$base" ] || [ -z "$head" ]; then
    echo "::error title=moot::This is no pull request; say the input range, such as HEAD~1..HEAD."
    exit 2
  fi
  range="$base...$head"
fi

place=$(mktemp -d "${RUNNER_TEMP:-/tmp}/moot-XXXXXX")
run=$place/run comment=${MOOT_COMMENT_FILE:-$place/comment.md} sarif=$place/findings.sarif
rm -f -- "$comment"
options=(--seats "$MOOT_SEATS" --protocol "${MOOT_PROTOCOL:-adversarial}" --yes --out "$run")
if [ -n "${MOOT_MAX_USD:-}" ]; then options+=(--max-usd "$MOOT_MAX_USD"); fi
gate=()
if [ -n "${MOOT_FAIL_ON:-}" ]; then gate=(--fail-on "$MOOT_FAIL_ON"); fi

code=0
moot review "git:$range" "${options[@]}" "${gate[@]}" --format markdown --save "$comment" || code=$?
if [ ! -e "$comment" ]; then exit "$code"; fi
moot review "$run" --format github || true
moot review "$run" --format sarif --save "$sarif" --quiet || true

{ echo "comment=$comment"; echo "sarif=$sarif"; echo "run=$run"; } >>"${GITHUB_OUTPUT:-/dev/null}"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$comment" >>"$GITHUB_STEP_SUMMARY"; fi

number=$(said pull_request number)
if [ -n "${MOOT_COMMENT_TOKEN:-}" ] && [ -n "$number" ]; then
  GH_TOKEN=$MOOT_COMMENT_TOKEN gh pr comment "$number" --repo "$GITHUB_REPOSITORY" --body-file "$comment" \
    || echo "::warning title=moot::The comment could not be posted; it is in the summary."
fi
exit "$code"
