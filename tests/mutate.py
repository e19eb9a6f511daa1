"""Changes one area of the package in many small ways and says which changes no test of that area notices.

    python tests/mutate.py AREA [SAMPLE [SEED]]
    python tests/mutate.py AREA again

The second form runs the survivors of the last result once more, after tests were added and nothing else.

The areas, their modules and the tests that judge them stand in `pyproject.toml` under `tool.mutations`. mutmut
makes the changes (in functions and methods; not in properties nor in what a module computes when it is imported)
and runs the tests in forks of one process. What only rewords a sentence is left out: a test that holds every word
of a message would hold nothing else. The result goes to `.mutations/AREA.json`, with the survivors as differences.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_COPIED = ("sql", "templates", "docs", "examples", "benchmarks", "requirements", "README.md", "CHANGELOG.md")
_TEXT = re.compile(r"""f?"(?:[^"\\\n]|\\.)*"|f?'(?:[^'\\\n]|\\.)*'""")
_HINT = re.compile(r",?\s*hint=(?:'\.\.\.'|None)")
_NOTICED = frozenset({"killed", "timeout", "segfault"})
_PROFILE = """
import os
import sys

from hypothesis import Phase, settings

# What fails need not be made smaller, and what is drawn is the same for every change.
settings.register_profile(
    "mutations", max_examples=40, deadline=None, database=None, derandomize=True,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("mutations")


def forget():
    for name in [name for name in sys.modules if name.startswith("toolkit.")]:
        for kept in list(vars(sys.modules[name]).values()):
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()


def pytest_sessionstart():
    forget()  # what was kept before the fork was computed without the change


def pytest_runtest_setup():
    # Which tests reach a function is noted in a first run: what one test has computed, the others reach as well.
    if os.environ.get("MUTANT_UNDER_TEST") == "stats":
        forget()
"""


def main(area: str, sample: int | None = None, seed: int = 1, *, again: bool = False) -> int:
    kept = ROOT / ".mutations" / f"{area}.json"
    last = json.loads(kept.read_text(encoding="utf-8")) if again else {}
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    chosen = whole["tool"]["mutations"][area]
    folder = ROOT / ".mutations" / area
    _lay_out(folder, whole, chosen)
    os.chdir(folder)
    sys.path.insert(0, str(folder))

    import mutmut.__main__ as mutmut
    from mutmut.mutation import mutators
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code

    drawn: list[tuple[Any, str, Any]] = []
    counted: Counter[str] = Counter()
    everything = mutmut.collect_source_file_mutation_data

    def some(*, mutant_names: object) -> tuple[list[tuple[Any, str, Any]], object]:
        found, by_path = everything(mutant_names=mutant_names)
        found.sort(key=lambda one: one[1])
        random.Random(seed).shuffle(found)
        counted["made"] = len(found)
        for one in found:
            if sample is not None and len(drawn) >= sample:
                break
            if again:
                if one[1] in last["survivors"]:
                    drawn.append(one)
            elif _only_rewords(get_diff_for_mutant(one[1], path=one[0].path)):
                counted["reworded"] += 1
            else:
                drawn.append(one)
        return drawn, by_path

    mutmut.collect_source_file_mutation_data = some
    mutators.mutation_operators[:] = [
        (kind, _without_not if change is mutators.operator_remove_unary_ops else change)
        for kind, change in mutators.mutation_operators
    ]
    mutmut._run((), 1)
    states = {name: status_by_exit_code[data.exit_code_by_key[name]] for data, name, _ in drawn}
    unnoticed = {
        name: get_diff_for_mutant(name, path=data.path) for data, name, _ in drawn if states[name] not in _NOTICED
    }
    result = {
        "area": area, "tool": f"mutmut {version('mutmut')}", "seed": seed, "made": counted["made"],
        "judged": len(drawn), "noticed": len(drawn) - len(unnoticed), "states": Counter(states.values()),
        "survivors": unnoticed, "timeouts": [name for name, state in states.items() if state == "timeout"],
    }  # fmt: skip
    if again:
        if set(last["survivors"]) - set(states):
            sys.exit("the code has changed since the last result: draw anew")
        result |= {"seed": last["seed"], "judged": last["judged"], "noticed": last["judged"] - len(unnoticed)}
    kept.write_text(json.dumps(result, indent=1, ensure_ascii=False))
    for name, difference in unnoticed.items():
        print(f"\n# {name}: {states[name]}\n{difference}")
    print(f"\n{area}: {result['noticed']} of {result['judged']} noticed, {counted['made']} could be made")
    print(dict(result["states"]))
    return 0


def _without_not(node: Any) -> Iterator[Any]:
    """Leave out `not`, but not its parentheses, which hold a condition of several lines together."""
    import libcst as cst

    if isinstance(node.operator, cst.Not | cst.BitInvert):
        inner = node.expression
        yield inner.with_changes(lpar=[*node.lpar, *inner.lpar], rpar=[*inner.rpar, *node.rpar])


def _lay_out(folder: Path, whole: dict[str, Any], chosen: dict[str, Any]) -> None:
    """Make a folder that mutmut may fill, with links to the checkout."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("toolkit", "tests", *_COPIED):
        (folder / name).symlink_to(ROOT / name)
    (folder / "conftest.py").write_text(_PROFILE)
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = {
        "source_paths": ["toolkit"], "only_mutate": chosen["modules"], "also_copy": ["conftest.py", *_COPIED],
        "pytest_add_cli_args_test_selection": chosen["tests"], "pytest_add_cli_args": ["-p", "no:xdist"],
        "timeout_multiplier": 40.0, "timeout_constant": 10.0, "use_git_change_detection": False,
        "track_dependencies": False,
    }  # fmt: skip
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    (folder / "pyproject.toml").write_text(f"{lines}\n[tool.mutmut]\n{text}", encoding="utf-8")


def _only_rewords(difference: str) -> bool:
    """Whether a change touches nothing but the words of sentences."""
    lines = [line for line in difference.splitlines() if line[:1] in "-+" and line[:3] not in {"---", "+++"}]
    before, after = ("\n".join(line[1:] for line in lines if line[0] == mark) for mark in "-+")
    return _without_sentences(before) == _without_sentences(after)


def _without_sentences(code: str) -> str:
    def shortened(text: re.Match[str]) -> str:
        return "'...'" if " " in text[0] else text[0]

    return re.sub(r",?\s*\)", ")", _HINT.sub("", _TEXT.sub(shortened, code))).strip()


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    if sys.argv[2:] == ["again"]:
        sys.exit(main(sys.argv[1], again=True))
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
