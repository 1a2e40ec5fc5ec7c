#!/usr/bin/env bash
# Post the comment. This step has the token and no key.
. "${BASH_SOURCE[0]%/*}/common.sh"

cd -- "$RUNNER_TEMP"
# A job may have keys in the environment of all its steps.
for name in $(compgen -e); do
  case $name in *_API_KEY | PYTHON*) unset "$name" ;; esac
done
number=$(event pull_request number)
if [ -z "${GH_TOKEN:-}" ] || [ -z "$number" ] || [ ! -e "${MOOT_COMMENT:-}" ]; then exit 0; fi
as_text gh pr comment "$number" --repo "$GITHUB_REPOSITORY" --body-file "$MOOT_COMMENT" \
  || echo "::warning title=moot::The comment could not be posted; it is in the summary."
