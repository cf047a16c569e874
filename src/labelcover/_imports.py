"""What is imported: versions of libraries, extras that install what is missing, lazy names."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module, metadata
from typing import Any

#: Distributions whose objects are in model files.
DISTRIBUTIONS = ("labelcover", "scikit-learn", "numpy")
# Extras that only collect others, or are for work on labelcover itself.
OTHER_EXTRAS = ("all", "bench", "dev")


def versions_here() -> dict[str, str]:
    """Return the versions that are installed here."""
    return {name: metadata.version(name) for name in DISTRIBUTIONS}


def other_versions(written: Mapping[str, str]) -> str:
    """Return in words what differs from the versions here; empty if the first two numbers agree.

    Examples
    --------
    >>> from labelcover._imports import other_versions, versions_here
    >>> other_versions(versions_here())
    ''
    >>> other_versions({**versions_here(), "numpy": "0.5.1"})  # doctest: +ELLIPSIS
    'written with numpy 0.5.1, and this is numpy ...'
    """
    here = versions_here()
    first_two = {name: version.split(".")[:2] for name, version in here.items()}
    differ = [x for x, own in first_two.items() if written.get(x, "").split(".")[:2] != own]
    if not differ:
        return ""
    then = ", ".join(f"{name} {written.get(name, 'unknown')}" for name in differ)
    now = ", ".join(f"{name} {here[name]}" for name in differ)
    return f"written with {then}, and this is {now}"


def extra_of(module: str) -> str:
    """Return the extra of labelcover that installs a module, ``"all"`` if none names it.

    Examples
    --------
    >>> from labelcover._imports import extra_of
    >>> extra_of("jinja2.nodes"), extra_of("skops.io"), extra_of("nowhere")
    ('report', 'cli', 'all')
    """
    wanted = _plain(module.split(".")[0])
    for requirement in metadata.requires("labelcover") or ():
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra\s*==\s*['\"]([\w-]+)['\"]", requirement)
        if name and extra and extra[1] not in OTHER_EXTRAS and _plain(name[0]) == wanted:
            return extra[1]
    return "all"


def how_to_install(module: str) -> str:
    """Return which library is missing for a module, and the command that installs it."""
    missing = module.split(".")[0]
    return f"{missing} is missing: pip install 'labelcover[{extra_of(missing)}]'"


@contextmanager
def naming_extra() -> Iterator[None]:
    """Let a module that is missing in the block be named with the extra that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or "pip install" in str(error):
            raise
        missing = error.name.split(".")[0]
        raise ModuleNotFoundError(how_to_install(missing), name=missing) from error


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names come from its modules.

    `modules` has for each name the module that has it, below the package.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    def names() -> list[str]:
        return sorted({*vars(import_module(package)), *modules})

    return get, names
