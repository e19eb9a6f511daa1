"""Every wait of the source is listed in docs/decisions/waits.md, with what ends it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.project.tree import ROOT, sources, texts

PAGE = ROOT / "docs/decisions/waits.md"
ALWAYS = {
    "wait", "result", "acquire", "communicate", "flock", "lockf", "waitpid", "getaddrinfo", "as_completed",
    "sleep", "SMTP", "SMTP_SSL", "urlopen",
}  # fmt: skip
PROGRAMS = {"run", "Popen", "call", "check_call", "check_output"}
SERVERS = {"oracledb", "psycopg", "duckdb", "smtplib", "socket", "connect"}
NO_WAITS = {
    "toolkit/terminal.py _layout",
    "toolkit/cli/colours.py has_color",
    "toolkit/cli/output.py _folded",
    "toolkit/report/metric_tables.py _wait",
    "toolkit/report/view.py _phases",
}
"""`get()` of a variable of the context and of rich, a function of reports that is called `wait`, joined words."""


def is_wait(call: ast.Call) -> bool:
    """Tell whether a call may wait, by its name and what it is given."""
    called = call.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    if name == "join":
        given = " ".join(ast.unparse(each) for each in (*call.args, *(key.value for key in call.keywords)))
        return not given or re.search("seconds|deadline|until|timeout", given, re.IGNORECASE) is not None
    if name == "get":
        return not call.args or any(key.arg in ("timeout", "block") for key in call.keywords)
    if name in ALWAYS or name not in {"connect", *PROGRAMS}:
        return name in ALWAYS
    owner = ast.unparse(called.value) if isinstance(called, ast.Attribute) else ""
    return owner in SERVERS or not owner if name == "connect" else owner == "subprocess"


def is_locked(item: ast.withitem) -> bool:
    return re.search(r"(lock|_turn|_changed)$|^Thread\w+\(", ast.unparse(item.context_expr)) is not None


def waits_of(tree: ast.Module) -> Iterator[str]:
    """Yield the function of each wait of a module."""
    open_: list[tuple[ast.AST, str]] = [(tree, "")]
    while open_:
        node, where = open_.pop()
        if isinstance(node, ast.Call) and is_wait(node):
            yield where
        if isinstance(node, ast.With) and any(map(is_locked, node.items)):
            yield where
        inner = f"{where}.{node.name}".lstrip(".") if isinstance(node, ast.FunctionDef | ast.ClassDef) else where
        open_ += [(child, inner) for child in ast.iter_child_nodes(node)]


def found() -> set[str]:
    calls = "|".join([*sorted(ALWAYS), "join", "get", "connect"])
    words = rf"\b({calls})\(|\bsubprocess\.|^\s*with .*(lock|turn|changed|Executor)\b"
    return {f"{name} {where}" for name, tree in sources(words) for where in waits_of(tree)} - NO_WAITS


def listed() -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return [f"{one[1]} {one[2]}" for one in re.finditer(r"^\| `(toolkit/\S+)` `(\S+)` \|", text, re.MULTILINE)]


def test_every_wait_is_listed_with_what_ends_it_and_nothing_else() -> None:
    waits = found()
    assert sorted(waits - set(listed())) == [], f"say in {PAGE.name} what ends them, and after how long"
    assert sorted(set(listed()) - waits) == [], f"leave out of {PAGE.name} what is no wait any more"
    assert len(set(listed())) == len(listed())


def test_every_lock_has_a_name_by_which_its_waits_are_found() -> None:
    made = re.compile(r"^.*threading\.(?:R?Lock|Condition|(?:Bounded)?Semaphore)\(", re.MULTILINE)
    lines = [(name, line) for name, text in texts("toolkit") for line in made.findall(text)]
    assert len(lines) > 20
    for name, line in lines:
        names = line.partition(" = ")[0].split(", ")
        assert all(re.search(r"(lock|_turn|_changed)$", each.strip()) for each in names), (name, line)
