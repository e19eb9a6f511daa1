"""Many small cases in one test.

An item of pytest costs milliseconds, in every worker that collects it and where it runs; a case of a law about
texts costs a tenth of that. `for_each` is written as `pytest.mark.parametrize` is, and makes one item: it runs all
cases, and fails with every case that failed, by its name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_LONGEST_NAME = 80


def for_each(
    names: str | Sequence[str], cases: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test once for each case, with the same fixtures; the cases must leave nothing behind in them."""
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    alone = isinstance(names, str) and len(given) == 1
    values = [(case,) if alone else tuple(case) for case in cases]
    named = [_name(case, ids) for case in values] if ids is None or callable(ids) else list(ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_of_them(**fixtures: Any) -> None:
            assert values, "there is no case"
            failed: list[tuple[str, BaseException]] = []
            skipped: list[str] = []
            for name, case in zip(named, values, strict=True):
                try:
                    test(**fixtures, **dict(zip(given, case, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(f"{name}: {reason.msg}")
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case: {name}")
                    failed.append((name, error))
            if failed:
                sentence = f"{len(failed)} of {len(values)} cases failed: {'; '.join(name for name, _ in failed)}"
                raise BaseExceptionGroup(sentence, [error for _, error in failed])
            if skipped:
                pytest.skip(f"{len(skipped)} of {len(values)} cases, the others passed: {'; '.join(skipped)}")

        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in given]
        all_of_them.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return all_of_them

    return decorate


def _name(case: tuple[Any, ...], ids: Callable[[Any], object] | None) -> str:
    return "-".join(str(value if ids is None else ids(value))[:_LONGEST_NAME] for value in case)
