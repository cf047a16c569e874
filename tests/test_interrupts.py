"""Ctrl-C ends compiled loops as it ends everything else."""

import subprocess
import sys

import pytest

from labelcover._progress import raising_interrupts

GROWING = """
import os, signal, threading
import numpy as np
from labelcover import LabelCoverClassifier
from labelcover.learners import LabelForest

signal.signal(signal.SIGINT, signal.default_int_handler)
random = np.random.default_rng(0)
X, Y = random.normal(size=(2_000, 5)), random.random((2_000, 3)) < 0.4
LabelCoverClassifier(LabelForest(n_trees=2), random_state=0).fit(X, Y)  # compile
model = LabelCoverClassifier(LabelForest(n_trees=20_000), random_state=0)
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    model.fit(X, Y)
except KeyboardInterrupt:
    assert not hasattr(model, "view_")
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_fit_that_is_interrupted_in_a_compiled_loop_raises_the_interrupt():
    command = [sys.executable, "-c", GROWING]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "interrupted\n", done.stderr


def test_an_interrupt_behind_a_system_error_is_raised_as_itself():
    inner = SystemError("inner")
    inner.__cause__ = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt), raising_interrupts():
        raise SystemError("a result with an exception set") from inner


@pytest.mark.parametrize("error", [SystemError("bad internal call"), ValueError("k")])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as raised, raising_interrupts():
        raise error
    assert raised.value is error
