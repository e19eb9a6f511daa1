"""The program `dbatk`, also as `python -m toolkit`."""

import os


def run() -> None:
    """Run the command line and exit; Ctrl-C is answered while modules are still loaded, too."""
    try:
        from toolkit.cli.main import run as begin

        begin()
    except KeyboardInterrupt:
        os._exit(130)


if __name__ == "__main__":
    run()
