"""dbatk whose pauses between attempts to connect anew are a hundredth: who lets nobody in is soon given up."""

from __future__ import annotations

from toolkit.__main__ import run
from toolkit.runner import sweep

if __name__ == "__main__":
    sweep._RECONNECT_SECONDS = tuple(pause / 100 for pause in sweep._RECONNECT_SECONDS)
    run()
