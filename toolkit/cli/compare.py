"""`compare`: two runs, configurations, snapshots, or intervals such as AWR reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from toolkit.cli.awr import MASK, pseudonyms
from toolkit.cli.output import out, out_json, out_raw, say
from toolkit.cli.parameters import APPROVALS, OUTPUT, QUIET, Arguments, add_command, argument, option
from toolkit.errors import ExitCode, ToolkitError
from toolkit.model.options import Topic

if TYPE_CHECKING:
    from toolkit.analysis.compare import Comparison
    from toolkit.analysis.limits import Limit
    from toolkit.store import Store

_REPEATED = "it applies to repeated trials: name two runs, or two configurations such as RUN/degree=4"
_REPORTS = "it hides names in comparisons of AWR and Statspack reports and of intervals A1..A2"
_APPLIES = {
    "fail_if": (("runs",), _REPEATED),
    "strict": (("runs",), _REPEATED),
    "allow_unlike": (("runs", "intervals"), "the two snapshots must be of the same database and provider"),
    "why": (("intervals",), "it shows the evidence of causes, which comparisons of reports and of intervals have"),
    "mask": (("intervals",), _REPORTS),
    "salt": (("intervals",), _REPORTS),
}


def add_compare(app: typer.Typer) -> None:
    """Add the command."""
    compared = [
        argument(
            "a",
            "before: run (`weekly~1`: the one before), RUN/degree=4, snapshot, A1..A2, AWR report, T:101-104",
        ),
        argument("b", "after: the same"),
        option("out", "also write the comparison as an HTML page", metavar="FILE.html"),
        option("fail_if", "runs: exit with 4 if this holds, such as 'elapsed_seconds > +5%'", metavar="LIMIT"),
        option(
            "strict",
            "runs: exit 3 when the result is inconclusive (`--fail-if` without an interval does so anyway)",
            kind=bool,
        ),
        option(
            "allow_unlike",
            "compare runs of different work, or reports of different databases",
            kind=bool,
            topic=Topic.SAFETY,
        ),
        option("awr", "compare two runs by the AWR reports kept with them", kind=bool),
        option("why", "reports: show for each cause the sections and values it rests on", kind=bool),
        *MASK,
        option("interleave", "run two experiment files A and B alternately in one run, and compare", kind=bool),
        option("label", "with --interleave: name of the run"),
        *APPROVALS,
        QUIET,
        *OUTPUT,
    ]
    add_command(app, "compare", _compare, compared, "Compare runs, configurations, snapshots or AWR reports.")


def _compare(arguments: Arguments) -> int:
    if arguments.flag("interleave"):
        return _interleaved(arguments)
    if "label" in arguments:
        raise ToolkitError("`--label` needs `--interleave`", code="TK-0107", hint="runs have their labels already")
    from toolkit.app.intervals.names import names_interval

    a, b = arguments.required("a"), arguments.required("b")
    if arguments.flag("awr") or names_interval(a) or names_interval(b):
        return _intervals(arguments, a, b)
    from toolkit.app.results import Stored, kind_of
    from toolkit.store import open_store

    limit = _limit(arguments)
    with open_store(arguments.text("store"), at_once=False) as store:
        kind, note = kind_of(store, a, b)
        if note:
            say(f"note: {note}")
        if kind is Stored.SNAPSHOTS:
            return _snapshots(store, arguments, a, b)
        return _runs(store, arguments, a, b, limit)


def _limit(arguments: Arguments) -> Limit | None:
    """Return what `--fail-if` asks, before anything is looked up."""
    text = arguments.text("fail_if")
    if text is None:
        return None
    from toolkit.analysis.limits import parse_fail_if

    return parse_fail_if(text)


def _check(arguments: Arguments, kind: str) -> None:
    """Refuse an option that means nothing for what is compared.

    Raises:
        ToolkitError: TK-0107.
    """
    for name, (kinds, hint) in _APPLIES.items():
        if kind not in kinds and arguments.text(name) not in (None, str(False)):
            flag = name.replace("_", "-")
            raise ToolkitError(f"`--{flag}` does not apply to {kind}", code="TK-0107", hint=hint)


def _intervals(arguments: Arguments, a: str, b: str) -> int:
    from toolkit.app.intervals.comparing import compare_sources
    from toolkit.cli.launch import reach
    from toolkit.report.interval.document import diff_document

    _check(arguments, "intervals")
    diff = compare_sources(
        a,
        b,
        reach=reach,
        force=arguments.flag("allow_unlike"),
        store=arguments.text("store"),
        names=pseudonyms(arguments),
    )

    def page() -> str:
        from toolkit.report.interval.view import diff_page

        return diff_page(diff)

    _write(arguments, page)
    if arguments.flag("json"):
        out_json(diff_document(diff))
    else:
        from toolkit.report.interval.view import diff_text

        out(diff_text(diff, why=arguments.flag("why")))
    return ExitCode.DONE


def _snapshots(store: Store, arguments: Arguments, a: str, b: str) -> int:
    from toolkit.analysis.snapshot_diff import document
    from toolkit.app.results import compare_snapshots
    from toolkit.report.snapshot_diff import between_page, between_text

    _check(arguments, "snapshots")
    compared = compare_snapshots(store, a, b)
    _write(arguments, lambda: between_page(compared.between, compared.sentences))
    if arguments.flag("json"):
        out_json({**document(compared.between), "warnings": list(compared.sentences)})
    else:
        out(between_text(compared.between, compared.sentences))
    return ExitCode.DONE if compared.between.whole else ExitCode.INCOMPLETE


def _runs(store: Store, arguments: Arguments, a: str, b: str, limit: Limit | None) -> int:
    from toolkit.app.results import choices, compare_named

    _check(arguments, "runs")
    for sentence in choices(store, a, b):
        say(f"note: {sentence}")
    metrics = () if limit is None else (limit.metric,)
    return _told(
        arguments, compare_named(store, a, b, force=arguments.flag("allow_unlike"), metrics=metrics), limit
    )


def _told(arguments: Arguments, comparison: Comparison, limit: Limit | None) -> int:
    """Show a comparison, and return the exit status that it and the limit give."""
    from toolkit.analysis.limits import judge
    from toolkit.report.render import Format, render_comparison

    judgement = None if limit is None else judge(comparison, limit)
    _write(arguments, lambda: render_comparison(comparison, Format.HTML))
    if arguments.flag("json"):
        out_raw(render_comparison(comparison, Format.JSON))
    else:
        out(render_comparison(comparison, Format.TEXT))
    if judgement is None:
        return _strictly(comparison) if arguments.flag("strict") else ExitCode.DONE
    for sentence in judgement.met:
        say(sentence)
    for sentence in (*judgement.not_judged, *judgement.inconclusive):
        say(f"warning: {sentence}")
    return judgement.exit_code(strict=arguments.flag("strict"))


def _interleaved(arguments: Arguments) -> int:
    """Run two experiment files alternately, and compare B with A."""
    from dataclasses import replace

    from toolkit.analysis.compare import compare_levels
    from toolkit.app.results import ended_well, failures, find_run
    from toolkit.cli.launch import reach, run_on
    from toolkit.design.build import check_label
    from toolkit.design.file import load_experiment
    from toolkit.design.interleave import VARIANT, interleaved
    from toolkit.store import open_store

    _check(arguments, "runs")
    limit = _limit(arguments)
    files = [Path(arguments.required(name)) for name in ("a", "b")]
    names = (files[0].stem, files[1].stem) if files[0].stem != files[1].stem else ("A", "B")
    experiment = interleaved(load_experiment(files[0]), load_experiment(files[1]), names)
    check_label(arguments.text("label"))
    experiment = replace(experiment, label=arguments.text("label"))
    resolved = reach(experiment.target)
    with open_store(arguments.text("store"), at_once=False) as store:
        try:
            run = find_run(store, run_on(experiment, resolved, store, arguments))
        finally:
            resolved.target.close()
        status = _told(arguments, compare_levels(run, VARIANT, *names), limit)
        if ended_well(run):
            return status
        for sentence in failures(run):
            say(sentence)
        return ExitCode.INCOMPLETE


def _strictly(comparison: Comparison) -> int:
    from toolkit.model.words import Verdict

    inconclusive = any(pair.verdict is Verdict.INCONCLUSIVE for pair in comparison.pairs)
    return ExitCode.INCOMPLETE if inconclusive else ExitCode.DONE


def _write(arguments: Arguments, page: Callable[[], str]) -> None:
    from toolkit.app.files import write_file

    if name := arguments.text("out"):
        write_file(Path(name), page())
        say(f"wrote {name}")
