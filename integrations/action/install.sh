#!/usr/bin/env bash
# Install the moot of this action into an environment of its own, from the lock alone, away from the workspace.
. "${BASH_SOURCE[0]%/*}/common.sh"

checkout=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd -P)
rm -rf -- "$place"
mkdir -m 700 -- "$place"
cd -- "$place"

without_secrets python -I -m venv venv
sed "/^# The other extras and the developers' tools.$/,\$d" "$checkout/requirements.lock" >requirements.lock
pip=("$python" -I -m pip --quiet --disable-pip-version-check)
# One review reads few modules: to compile those of all dependencies would take longer than it saves.
as_text without_secrets "${pip[@]}" install --no-compile --require-hashes --only-binary :all: --requirement requirements.lock
as_text without_secrets "${pip[@]}" wheel --no-deps --no-index --no-build-isolation --wheel-dir dist "$checkout"
as_text without_secrets "${pip[@]}" install --no-compile --no-deps --no-index dist/*.whl
