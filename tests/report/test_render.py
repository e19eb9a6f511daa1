from __future__ import annotations

import csv
import html.parser
import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.report.make import cell, host_samples, metric, run_of, sweep, sweep_trials, trial
from tests.tiers import examples
from toolkit.analysis.compare import compare
from toolkit.analysis.documents import run_document
from toolkit.model.records import Artifact, RunRecord
from toolkit.model.words import Mode, Outcome
from toolkit.report.html import code_spans
from toolkit.report.render import Format, render, render_comparison

TIMES = {1: [8.0, 8.2, 8.1], 2: [4.1, 4.0, 4.05], 4: [2.0, 2.1, 2.04]}
EVIL = "<script>alert(1)</script>'\"&\x1b[31mred\x07\u202eabc`x`|*_\x00"
FORMULA = '=HYPERLINK("http://x",1)'


def evil_run() -> RunRecord:
    """A run in which every text that can come from outside is hostile."""
    of = cell(degree=2, **{f"fac{EVIL}": f"lev{EVIL}"})
    other = cell(degree=4, **{f"fac{EVIL}": f"-{EVIL}"})
    bad = {"reason": EVIL, "error_code": EVIL, "outcome": Outcome.FAILED}
    run = run_of(
        [
            trial(1, of, 1, 2.0, metrics=(metric(EVIL, 1.0, EVIL, EVIL),), samples=host_samples(3, 50)),
            trial(2, other, 1, 3.0, phases={EVIL: 1.0}),
            trial(3, of, 2, None, **bad),
        ],
        label=EVIL,
        environment={EVIL: EVIL},
        warnings=(EVIL,),
        artifacts=(Artifact("script.sql", "text/sql", f"SELECT '{EVIL}'; ```\n</code></pre>".encode()),),
    )
    experiment = replace(run.head.experiment, target=EVIL, options={EVIL: EVIL}, name=EVIL)
    return replace(run, head=replace(run.head, experiment=experiment, target_name=EVIL, tool_version=EVIL))


class Page(html.parser.HTMLParser):
    """The tags of a page, with a check that they close in order."""

    VOID = frozenset({"meta", "br", "input", "link", "line", "path", "polyline"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID or tag == "path":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@for_each("chosen", list(Format))
def test_text_from_outside_does_no_harm(chosen: Format) -> None:
    text = render(evil_run(), chosen)
    if chosen is Format.MARKDOWN:
        # what stands in a code block or a code span is shown as it is
        text = re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^(````+)sql$.*?^\1$", "", text))
    assert "<script>" not in text or chosen in {Format.TEXT, Format.JSON, Format.CSV}
    for character in ("\x1b", "\x07", "\x00", "\u202e"):
        assert character not in text
    text.encode("utf-8")


def test_a_page_of_hostile_text_has_only_our_tags() -> None:
    page = Page(render(evil_run(), Format.HTML))
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "iframe", "img", "object", "embed", "link", "form", "base"}
    attributes = {name for _, given in page.tags for name in given}
    assert not {name for name in attributes if name.startswith("on")}
    # a page can only point into itself
    assert all((given.get("href") or "#").startswith("#") for _, given in page.tags)
    assert not attributes & {"src", "srcset", "style", "xlink:href"}


def test_markdown_from_outside_makes_no_markup() -> None:
    run = sweep(TIMES, label="a|b *c* <i> [d](http://x)", warnings=("# no heading", "1. no list"))
    text = render(run, Format.MARKDOWN)
    assert "a\\|b \\*c\\* \\<i\\> \\[d\\]\\(http://x\\)" in text
    assert "\n- \\# no heading" in text
    widths = {line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| 1 ")}
    assert len(widths) <= 2


def test_a_script_cannot_end_its_own_code_block() -> None:
    run = sweep(TIMES, artifacts=(Artifact("script-2.sql", "text/sql", b"SELECT 1;\n```\n# out"),))
    assert "````sql\nSELECT 1;\n```\n# out\n````" in render(run, Format.MARKDOWN)


@for_each("text", ["=1+1", "+1", "-1", "@sum", "\t=1", "  =1", "\r=1"])
def test_a_cell_of_csv_is_never_a_formula(text: str) -> None:
    run = run_of([trial(1, cell(level=text), 1, None, outcome=Outcome.FAILED, reason=text)], label=text)
    (row,) = csv.DictReader(io.StringIO(render(run, Format.CSV)))
    for name in ("label", "reason", "factor:level"):
        assert row[name].startswith("'"), name


def test_numbers_in_csv_stay_numbers() -> None:
    run = run_of([trial(1, cell(level=-3), 1, 1.25)])
    (row,) = csv.DictReader(io.StringIO(render(run, Format.CSV)))
    assert (row["factor:level"], row["elapsed_seconds"], row["warmup"]) == ("-3", "1.25", "false")


def test_csv_has_one_row_for_each_trial_of_all_runs() -> None:
    runs = [sweep(TIMES, run="a"), sweep({"none": [1.0]}, "compression", run="b")]
    rows = list(csv.DictReader(io.StringIO(render(runs, Format.CSV))))
    assert [row["run"] for row in rows] == ["a"] * 9 + ["b"]
    assert (rows[0]["factor:degree"], rows[9]["factor:degree"], rows[9]["factor:compression"]) == ("1", "", "none")


@for_each("run", [sweep(TIMES), evil_run(), sweep({4: [1.0]}, mode=Mode.JOB), run_of([])])
def test_text_fits_eighty_columns_without_colour(run: RunRecord) -> None:
    text = render(run, Format.TEXT, comparisons=[compare(sweep(TIMES, run="a"), sweep(TIMES, run="b"))])
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


@examples(40)
@given(st.text(max_size=200), st.text(max_size=60))
def test_any_text_fits_eighty_columns(reason: str, name: str) -> None:
    failed = trial(1, cell(**{name: reason}), 1, None, outcome=Outcome.FAILED, reason=reason)
    text = render(run_of([failed], label=name), Format.TEXT)
    assert max(map(len, text.split("\n"))) <= 80


@examples(40)
@given(st.text(max_size=60))
def test_any_text_leaves_the_page_whole(text: str) -> None:
    run = run_of([trial(1, cell(level=text), 1, 1.0, reason=text), trial(2, cell(level=1), 1, 2.0)], label=text)
    page = Page(render(run, Format.HTML))
    assert page.open == []
    assert "script" not in {tag for tag, _ in page.tags}


@for_each(
    ("text", "shown"),
    [
        ("others used it", "Others used it"),
        ("work_mem was set", "work_mem was set"),
        ("crm2: it died", "crm2: it died"),
        ("host: it died", "Host: it died"),
        ("`crm` died", "<code>crm</code> died"),
        ("3 runs", "3 runs"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_and_a_name_as_it_is_written(text: str, shown: str) -> None:
    assert code_spans(text) == shown


def test_a_date_in_a_title_is_not_broken_at_its_hyphens() -> None:
    page = render(sweep(TIMES, label="<b> 2026-11-24"), Format.HTML)
    titles = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", page)
    dates = [title for title in titles if re.search(r"\d{4}-\d\d-\d\d", title)]
    assert dates != []
    assert all(re.search(r'<span class="date">\d{4}-\d\d-\d\d</span>', title) for title in dates)
    assert ".date{white-space:nowrap}" in page and "<b>" not in page


def test_one_run_as_json_is_its_document_and_several_are_listed() -> None:
    run = sweep(TIMES)
    assert json.loads(render(run, Format.JSON)) == run_document(run)
    both = json.loads(render([run, run], "json", comparisons=[compare(run, run)]))
    assert (len(both["runs"]), len(both["comparisons"])) == (2, 1)


def test_an_unknown_format_is_a_fault_of_the_caller() -> None:
    with pytest.raises(ValueError, match="pdf"):
        render(sweep(TIMES), "pdf")


@for_each("chosen", list(Format))
@for_each(
    "run",
    [
        run_of([]),
        sweep({1: [None]}),
        sweep({1: [5.0]}, mode=Mode.JOB),
        sweep({"default": [5.0, 5.1], 4: [2.0, 2.1]}),
        sweep({0: [1.0], 5: [2.0]}, factor="percent"),
        sweep({True: [1.0], False: [2.0]}, factor="logging"),
        run_of(sweep_trials({cell(degree=d, a=i): [1.0 + d] for d in (1, 2) for i in range(12)})),
    ],
    ids=["empty", "failed", "job", "named-level", "zero-level", "boolean", "many-lines"],
)
def test_every_kind_of_run_renders(run: RunRecord, chosen: Format) -> None:
    assert render(run, chosen)


def test_a_comparison_renders_alone_with_its_differences_first() -> None:
    a, b = sweep(TIMES, run="a"), sweep(TIMES, run="b", environment={"version": "v9"})
    for chosen in (Format.TEXT, Format.MARKDOWN, Format.HTML):
        text = render_comparison(compare(a, b), chosen).lower()
        assert (
            text.index("what differs") < text.index("inconclusive in all") < text.index("configurations compared")
        )
    assert json.loads(render_comparison(compare(a, b), Format.JSON))["pairs"]
    assert render_comparison(compare(a, b), Format.CSV).count("\r\n") == 19


def test_a_page_of_several_results_begins_with_what_each_of_them_tells() -> None:
    runs = [sweep(TIMES, run="a"), sweep(TIMES, run="b")]
    text = render(runs, Format.HTML, comparisons=[compare(*runs)])
    overview = text.partition("</nav>")[0]
    assert overview.count("<p>Use <code>degree=4</code>") == 2
    assert "<p>Inconclusive in all of 3 configurations</p>" in overview


def test_every_trial_that_is_not_ok_stands_in_the_page_with_its_reason() -> None:
    run = sweep({1: [8.0, None, 8.1], 2: [4.0, 4.1, None]})
    text = render(run, Format.HTML)
    assert text.count("<td>out of memory</td>") == 2


def test_the_page_names_every_chart_and_repeats_its_numbers() -> None:
    trials = [
        replace(one, samples=host_samples(4, 60))
        for one in sweep_trials({cell(degree=d): t for d, t in TIMES.items()})
    ]
    text = render(run_of(trials), Format.HTML)
    figures = text.split("<figure")[1:]
    assert len(figures) == 7
    for figure in figures:
        assert re.search(r'role="img" aria-labelledby="(\S+) (\S+)"', figure)
        assert "<desc" in figure
        assert "<table>" in figure
    assert "4.05 s" in figures[0]


def test_a_chart_of_many_trials_is_thinned_and_says_so() -> None:
    run = sweep({level: [8 / level + 0.001 * index for index in range(500)] for level in (1, 2)})
    text = render(run, Format.HTML)
    for figure in text.split("<figure")[1:]:
        drawing = figure.split("</svg>")[0]
        assert drawing.count('<path class="m ') <= 400
    assert "of 1,000 trials; the table has all of them" in text
    assert text.count("<tr") > 1000


def test_a_median_is_never_shown_alone() -> None:
    text = render(sweep({1: [8.0, 8.4], 2: [4.0, 4.4]}), Format.TEXT)
    assert "range of trials" in text
    assert "8.00 to 8.40 s" in text


def test_a_restore_that_was_tried_once_is_told_at_the_top_of_its_page() -> None:
    found = (
        metric("recovery_seconds", 61.0, "s", "restore"), metric("copy_seconds", 60.0, "s", "restore"),
        metric("recovery_point_age_seconds", 120.0, "s", "2026-11-26 01:09:21 UTC"),
        metric("proved", 0.0, "", "none"),
    )  # fmt: skip
    once = trial(1, cell(channels=1), 1, 61.0, metrics=found)
    text = render(run_of([once], mode=Mode.JOB, operation="restore-try"), Format.HTML).replace("\xa0", " ")
    top = text[: text.index("What was done")]
    for told in ("Recovery time 61.0 s (copy 60.0 s)", "Recovery point 2026-11-26 01:09:21 UTC", "Not proved"):
        assert told in top


def test_what_was_done_is_shown_as_it_was_written() -> None:
    page = render(sweep({1: [1.0, 1.1], 2: [0.6, 0.5]}), Format.HTML)
    facts = dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", page))
    assert facts["target"].startswith("duckdb://") and facts["what"].startswith("ctas: ")
    assert facts["factors"] == "degree 1, 2" and "`" not in "".join(facts.values())


@pytest.mark.parametrize(
    ("jobs", "shown"),
    [
        (
            '[[job]]\nname = "short"\ncommand = "true"\n[[job]]\nname = "long"\ncommand = "ls"\n',
            "jobs short, long",
        ),
        ("no document [", "jobs no document ["),
    ],
)
def test_of_a_mix_the_names_of_its_jobs_are_shown(jobs: str, shown: str) -> None:
    run = sweep({1: [1.0, 1.1]})
    head = replace(run.head, experiment=replace(run.head.experiment, options={"jobs": jobs}))
    page = render(replace(run, head=head), Format.HTML)
    assert dict(re.findall(r"<dt>([^<]*)</dt><dd>(.*?)</dd>", page))["what"] == f"ctas: {shown}"


def test_names_between_back_ticks_are_code_in_a_table_too() -> None:
    run = sweep({1: [1.0, 1.1], 2: [0.6, 0.5]})
    failed = replace(run.trials[0], outcome=Outcome.FAILED, reason="table `orders` is locked")
    page = render(replace(run, trials=(failed, *run.trials[1:])), Format.HTML)
    assert "<code>orders</code>" in page and "`orders`" not in page


def test_the_title_of_a_job_names_its_degree() -> None:
    job = sweep({4: [1.0]}, mode=Mode.JOB)
    assert ": degree 4 (20" in render(job, Format.TEXT).splitlines()[0]


def test_an_option_that_is_a_number_has_its_unit() -> None:
    run = sweep({1: [1.0]})
    options = {"users": 4, "ramp_up": 5, "think_time": 0.5, "table": "t"}
    users = replace(run.head.experiment, operation="workload", options=options)
    page = render(replace(run, head=replace(run.head, experiment=users)), Format.TEXT)
    assert "users 4, ramp_up 5 s, think_time 0.5 s, table t" in " ".join(page.split())
