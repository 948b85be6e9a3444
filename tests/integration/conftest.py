"""Fixtures: the lab for the whole session, and the appliance in the setup that a test asks for."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import client  # noqa: E402
import lab as laboratory  # noqa: E402
from lab import processes  # noqa: E402


def pytest_configure(config):
    del config
    processes.raise_on_signals()


def pytest_collection_modifyitems(items):
    """Tests of one setup in a row, so that the appliance or machine is started once for them."""
    items.sort(key=lambda item: str(_setup_of(item)))


def _setup_of(item):
    spec = getattr(item, "callspec", None)
    return spec.params.get("wirecache", spec.params.get("vm", "")) if spec else ""


@pytest.fixture(scope="session")
def lab():
    the_lab = laboratory.Lab()
    try:
        yield the_lab
    finally:
        the_lab.close()


@pytest.fixture(scope="module")
def alone(lab):
    """Nothing else runs that would take CPUs away: for what starts appliances of its own."""
    lab.stop_current()


@pytest.fixture
def wirecache(lab, request):
    """The running Wirecached; parametrised with a Setup by client.on()."""
    running = lab.require(request.param)
    yield running
    assert not running.ended(), "wirecached ended during the test: " + running.log()


@pytest.fixture
def ask(lab, wirecache):
    """A client of the running appliance."""
    del wirecache
    return client.Client(lab)


@pytest.fixture
def upstream(lab):
    """NSD, asked directly: what is right."""
    return client.Client(lab, lab.nsd.address)
