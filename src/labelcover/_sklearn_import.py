"""The first import of scikit-learn, without `scipy.stats`; import this module before scikit-learn.

`sklearn.utils.fixes` has ``import scipy.stats`` at its top, which takes about half a second, and
uses it in functions only, as ``scipy.stats.mode``. SciPy imports its packages when such an
attribute is first asked for, so the statement can be skipped. It is skipped in that one module; all
other imports of `scipy.stats`, also in other threads, are as ever.
"""

from __future__ import annotations

import builtins
import sys


def _import_sklearn() -> None:
    usual = builtins.__import__

    def sparing(name, globals=None, locals=None, fromlist=(), level=0):
        module = globals.get("__name__") if globals else None
        if name == "scipy.stats" and not fromlist and module == "sklearn.utils.fixes":
            name = "scipy"  # which is all that the statement binds
        return usual(name, globals, locals, fromlist, level)

    builtins.__import__ = sparing  # type: ignore[assignment]
    try:
        import sklearn.base  # noqa: F401
    finally:
        if builtins.__import__ is sparing:  # else somebody has wrapped it meanwhile
            builtins.__import__ = usual


if "sklearn" not in sys.modules and "scipy.stats" not in sys.modules:
    _import_sklearn()
