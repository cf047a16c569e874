"""The `labelcover` command: thin, no logic of its own. Options are in `options`."""

import sys
import warnings
from typing import Annotated

try:
    import rich  # noqa: F401
    import typer
except ImportError:  # pragma: no cover
    sys.exit("labelcover: the command needs its extra: pip install 'labelcover[cli]'")

from labelcover._arguments import naming_options
from labelcover._progress import raising_interrupts, telling_of_compilation
from labelcover.cli._model_commands import (
    audit,
    complete,
    evaluate,
    plan,
    predict,
    report,
    train,
)
from labelcover.cli._options import with_options
from labelcover.cli._outputs import (
    DEBUG,
    INTERRUPTED,
    STOPPED,
    check_address_space,
    complain,
    let_streams_encode_all,
    message_and_code,
    show_warning,
)
from labelcover.cli._study_commands import compare, cover, datasets, paper

# In the order in which --help lists them.
COMMANDS = (
    cover,
    plan,
    train,
    predict,
    complete,
    evaluate,
    compare,
    paper,
    datasets,
    report,
    audit,
)

app = typer.Typer(
    name="labelcover",
    help="Multi-label classification with label covers.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in COMMANDS:
    app.command()(with_options(command))


def _print_version(asked: bool) -> None:
    if asked:
        from labelcover._imports import versions_here

        print(", ".join(f"{name} {version}" for name, version in versions_here().items()))
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print versions."),
    ] = False,
    debug: Annotated[
        bool, typer.Option(DEBUG, help="Print the traceback of an error, for any command.")
    ] = False,
) -> None:
    """Multi-label classification with label covers."""


def main() -> None:
    """Run the command; a user error is one line on standard error, with exit code 2."""
    let_streams_encode_all()
    words = [word for word in sys.argv[1:] if word != DEBUG] or ["--help"]
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            check_address_space(words)
            # numba, which tells of it, is slow to import: not for a word of help.
            telling = telling_of_compilation(show=not {"--help", "--version"}.intersection(words))
            with raising_interrupts(), naming_options(), telling:
                code = app(words, prog_name="labelcover", standalone_mode=False)
        except Exception as error:
            if DEBUG in sys.argv[1:]:
                raise
            complain(*message_and_code(error))
        except KeyboardInterrupt:
            code = INTERRUPTED
        if code == INTERRUPTED:  # which some versions of typer return, and others raise
            complain(STOPPED, INTERRUPTED)
        sys.exit(code if isinstance(code, int) else 0)
