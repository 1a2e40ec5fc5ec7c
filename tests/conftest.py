"""Every test runs offline, without a key, and the same way twice."""

import gc
import os
import signal
import ssl
import tempfile
from collections.abc import Generator
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

# Set when this file is imported, so that the processes which tests start inherit it.
os.environ["MOOT_OFFLINE"] = "1"
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="moot-state-")
# What tests install is started a few times: the byte code of all dependencies takes longer to write than it saves.
# pip reads what an option sets and not what it is called: 0 is not to compile.
os.environ["PIP_NO_COMPILE"] = "0"
# Nobody acts under the name of whoever runs the tests.
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
    del os.environ[name]

# In the background of a script Ctrl-C and Ctrl-\ are ignored, and under `nohup` a hang-up is: processes that tests
# interrupt would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)

# The gate answers the same on a busy machine: no deadline, and examples derived from the test itself.
# `make test` looks at fewer of them than `make test-all`.
gate = settings(
    max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("gate", gate)
settings.register_profile("thorough", gate, max_examples=50)
settings.register_profile("campaign", deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile("gate")


@pytest.fixture(autouse=True, scope="session")
def disk_that_keeps_nobody_waiting() -> Generator[None]:
    """Syncs of this process do nothing: a missing one shows in a power failure alone, which `tests/campaign` plays.

    Processes that tests start sync as ever.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, lambda _descriptor: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def certificates_that_are_read_once() -> Generator[None]:
    """Every client of a model's API reads those of the machine, and no test has a connection that needs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The long ones first: at the end, when processes run out of tests, only short ones are left to wait for. Of the
    # slow ones the longest wait for browsers, sandboxes and package indices.
    items.sort(
        key=lambda item: (
            item.get_closest_marker("slow") is None,
            not item.nodeid.startswith(
                ("tests/golden/", "tests/packaging/", "tests/security/", "tests/web/")
            ),
        )
    )


def pytest_collection_finish() -> None:
    # Modules and tests stay to the end. The collector would go through all of them again and again.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of `make test`, in `make test-all`")
    config.addinivalue_line("markers", "campaign: long; left out unless asked for with -m campaign")
