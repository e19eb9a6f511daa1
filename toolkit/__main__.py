"""`python -m toolkit` is `dbatk`."""

from toolkit.cli.main import run

if __name__ == "__main__":
    run()
