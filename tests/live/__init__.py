"""The suite for a real Oracle database: `pytest -m oracle_live tests/live`.

It takes a test database by `DBATK_TEST_ORACLE_URL` and `DBATK_PASSWORD`, or starts one in a container where Docker
runs. It makes and drops objects of its own in the user's schema, and writes what it found into `docs/verified.md`.
"""
