"""Bundles that are really run: by run.sh, with a stub client, against the Oracle stand-in."""

from __future__ import annotations

from tests.bundle.conftest import Maker


def test_a_bundle_runs_to_its_end_and_is_a_run_like_any_other(workshop: Maker) -> None:
    shop = workshop()
    shop.export("--assume", "19-ee")
    status, said = shop.run()
    assert status == 0, said
    done = shop.ingest()
    assert done.returncode == 0, done.stderr + done.stdout
    print(said, done.stdout, done.stderr)
    record = shop.record()
    print(record.trials, record.environment, record.warnings)
    assert 0
