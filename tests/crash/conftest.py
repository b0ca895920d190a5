from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.programs import ROOT
from tests.crash.vendor import Vendor


@pytest.fixture(scope="session")
def vendor() -> Iterator[Vendor]:
    """The model vendor, in a process of its own: it survives every death."""
    command = [sys.executable, "-m", "tests.sim.llm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        try:
            assert process.stdout is not None
            yield Vendor(process.stdout.readline().strip())
        finally:
            process.terminate()
