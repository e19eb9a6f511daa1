"""Waiting, as an operation without a database: a program of this host is all that is on the clock."""

from __future__ import annotations

from toolkit.model.operations import JudgedBy, OperationDeclaration
from toolkit.model.options import Option, OptionKind

DECLARATION = OperationDeclaration(
    name="pause",
    command=("pause",),
    help="Wait, once or as a measurement.",
    options=(
        Option("milliseconds", OptionKind.INTEGER, "how long to wait", factor=True, low=0, high=60_000, unit="ms"),
    ),
    planned_by="tests.adding.pause.plan",
    degree="",
    judged_by=JudgedBy("share_waited", "%", lower_is_better=False, title="share of waiting"),
    complete_when_timed=True,
)
