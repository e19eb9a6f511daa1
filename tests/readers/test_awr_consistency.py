"""Nothing of a report is lost in silence, and what contradicts itself in it is named with both values."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.for_each import for_each
from tests.readers.awr_samples import STATSPACK, TEXT, html
from toolkit.readers.awr.consistency import inconsistencies
from toolkit.readers.awr.impossible import impossible
from toolkit.readers.awr.report import read_report
from toolkit.readers.awr.tables import AwrTable


def document(text: str) -> dict[str, Any]:
    return read_report(text.encode(), "r").document()


def warned(text: str, words: str) -> list[str]:
    return [one for one in document(text)["warnings"] if words in one]


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


HEADER_OF_11_2 = """Snapshot       Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~    ---------- ------------------ -------- --------- ------------------
Begin Snap:          7 02-Mar-05 10:00:00       50       1.5
  End Snap:          8 02-Mar-05 11:00:00       51       1.6
   Elapsed:      60.00 (mins) Av Act Sessions:       1.8
   DB time:     106.55 (mins)      DB CPU:      28.35 (mins)
"""


def test_db_time_of_statspack_11_2_stands_before_db_cpu_in_its_line() -> None:
    header = re.compile(r" +Snap Id     Snap Time.*?Elapsed: .*?\n", re.DOTALL)
    text, count = header.subn(HEADER_OF_11_2, STATSPACK)
    assert count == 1
    found = document(text)
    assert (found["elapsed_min"], found["db_time_min"], found["begin_snap_id"]) == (60.0, 106.55, 7)
    assert not [one for one in found["warnings"] if "no list" in one]


TILDES = """Database    DB Id    Instance     Inst Num  Startup Time   Release     RAC
~~~~~~~~ ----------- ------------ -------- --------------- ----------- ---
               12345 acme1               1 02-Mar-05 09:00 11.2.0.3.0  NO

Host Name             Platform                CPUs Cores Sockets   Memory (G)
~~~~ ---------------- ---------------------- ----- ----- ------- ------------
     box              Linux x86 64-bit           8     4       1         15.6
"""


def test_a_short_report_whose_rulers_have_tildes_is_no_copy_of_a_page() -> None:
    begin, end = STATSPACK.index("DB Name"), STATSPACK.index("SQL ordered by Gets")
    top = STATSPACK[:end].replace(
        STATSPACK[begin : STATSPACK.index("Load Profile")], f"{TILDES}\n{HEADER_OF_11_2}\n"
    )
    found = document(f"{top}\nEnd of Report\n")
    assert (found["dbid"], found["instance"], found["db_time_min"]) == (12345, "acme1", 106.55)
    assert [row["event"] for row in found["top_events"]] == ["CPU time", "log file sync"]


PARSE_CALLS = """SQL ordered by Parse Calls for DB: ACME  Instance: acme1  Snaps: 7 -8
-> End Parse Calls Threshold:

                           % Total
 Parse Calls  Executions   Parses  Hash Value
------------ ------------ -------- ----------
"""


def test_a_page_break_within_a_list_of_statements_loses_no_row() -> None:
    text = STATSPACK.replace(
        "End of Report",
        PARSE_CALLS + "     104,681      104,681     0.67 1470906206\nselect one from table_with_a_lo\n"
        + PARSE_CALLS + "ng_name\n\n     103,807      293,914     0.67 3927599362\nselect two from dual\n\n"
        "     100,192            0     0.64 3048181047\nselect three from dual\n"
        + PARSE_CALLS + "\n      90,000            1     0.50 2048181047\nselect four from dual\n\n"
        "          -------------------------------------------------------------\n\nEnd of Report",
    )  # fmt: skip
    rows = document(text)["sql_by_parse_calls"]
    assert [(row["old_hash_value"], row["parse_calls"]) for row in rows] == [
        ("1470906206", 104_681), ("3927599362", 103_807), ("3048181047", 100_192), ("2048181047", 90_000),
    ]  # fmt: skip
    assert [row["text"].split()[1] for row in rows] == ["one", "two", "three", "four"]


PARAMETERS = """init.ora Parameters                  DB/Inst: ACME/acme1  Snaps: 7-8

                                                                  End value
Parameter Name                Begin value                       (if different)
----------------------------- --------------------------------- --------------
control_files                 /u01/app/oracle/oradata/ACME/cont
                              rol01.ctl, /u02/oradata/control2,
                              /u03/control03.ctl
db_block_size                 8192
          -------------------------------------------------------------

"""


def test_a_wrapped_parameter_has_neither_a_blank_nor_a_comma_too_many() -> None:
    found = document(TEXT.replace("End of Report", PARAMETERS + "End of Report"))["init_parameters"]
    assert found["control_files"] == (
        "/u01/app/oracle/oradata/ACME/control01.ctl, /u02/oradata/control2,/u03/control03.ctl"
    )
    assert found["db_block_size"] == "8192"


def test_lines_of_figures_that_no_list_takes_are_counted() -> None:
    assert not warned(TEXT, "lines of figures")
    orphans = (
        "\nlost and found                 12           34\nanother of them                 5            6\n\n"
    )
    (sentence,) = warned(TEXT.replace("End of Report", orphans + "End of Report"), "lines of figures")
    assert sentence.startswith("2 lines of figures are in no list") and "lost and found 12 34" in sentence


MODEL = "<tr><td>DB time</td><td>{}</td><td></td><td></td></tr><tr><td>sql execute"


@pytest.mark.parametrize(
    ("old", "new", "sentences"),
    [
        pytest.param(
            "1,030.50 (mins)", "30.50 (mins)",
            ["DB time is 30 min 30 s by the header, and 17 h 12 min by the load profile"], id="header",
        ),
        pytest.param(
            "<tr><td>sql execute", MODEL.format("99,999.00"),
            ["DB time is 17 h 10 min by the header, and 27 h 47 min by the time model",
             "DB time is 27 h 47 min by the time model, and 17 h 12 min by the load profile",
             "`log file sync` has 2.4 % of DB time by the top events, and 1.5 % by its time; "
             "2 others differ, too"],
            id="time model",
        ),
        pytest.param(
            "<td>DB CPU</td><td>900.00</td>", "<td>DB CPU</td><td>700.00</td>",
            ["DB CPU is 11 min 40 s by the time model, and 15 min 00 s by the top events"], id="cpu",
        ),
        pytest.param(
            "<td>2.4</td>", "<td>240</td>", ["the top events give `log file sync` 240 % of DB time"], id="share"
        ),
        pytest.param(
            "<td>DB CPU</td><td>900.00</td><td>1.5</td>", "<td>DB CPU</td><td>900.00</td><td>192.1</td>",
            ["the time model gives `DB CPU` 192 % of DB time"], id="more CPU than DB time",
        ),
        pytest.param(
            "<td>1.2E+06</td>", "<td>-12</td>",
            ["`block_changes` is -12 per second in the load profile: a counter ran backwards"], id="backwards",
        ),
    ],
)  # fmt: skip
def test_a_report_that_denies_itself_is_told_with_both_values(old: str, new: str, sentences: list[str]) -> None:
    usual = set(document(html())["warnings"])
    told = [one for one in document(replaced(html(), old, new))["warnings"] if one not in usual]
    # the page has a few rows of each list only
    assert [one for one in told if not one.endswith("rows of it are missing")] == sentences


def test_more_db_time_than_the_sessions_had_names_the_statement_that_explains_it() -> None:
    few = replaced(replaced(html(), "<td>50</td>", "<td>5</td>"), "<td>51</td>", "<td>6</td>")
    (sentence,) = warned(few, "sessions")
    assert sentence == (
        "DB time is 17.2 active sessions on average, yet at most 6 sessions existed at its begin and end"
    )
    long = replaced(few, "<td>12.50</td><td></td>", "<td>58,000.00</td><td>1</td>")
    (sentence,) = warned(long, "sessions")
    assert "an execution takes longer than the interval in `abcdfghjkmn12` (16 h 07 min" in sentence


IO_HEADS = (
    "Tablespace", "Reads", "Av Rds/s", "Av Rd(ms)", "Av Blks/Rd", "1-bk Rds/s", "Av 1-bk Rd(ms)", "Writes",
    "Writes avg/s", "Buffer Waits", "Av Buf Wt(ms)",
)  # fmt: skip
DISPLACED = (
    ("USERS", "7,200", "2", "0.50", "1.00", "36,000", "1.75", "1", "10", "4", "0.00"),
    ("UNDO", "0", "0", "0.00", "0.00", "900", "0.00", "0", "0", "0", "0.00"),
)
IN_PLACE = (("USERS", "7,200", "2", "0.50", "1.00", "1.75", "1", "36,000", "10", "4", "0.00"),)
NO_SIGN = (("USERS", "7,200", "2", "0.50", "1.00", "2", "0.60", "3", "0", "4", "0.00"),)


@pytest.mark.parametrize(
    ("rows", "writes", "single", "average", "told"),
    [(DISPLACED, 36000, 1.75, 1, 1), (IN_PLACE, 36000, 1.75, 1, 0), (NO_SIGN, 3, 2, 0.6, 0)],
    ids=["displaced", "in place", "no sign of it"],
)
def test_writes_under_another_heading_are_read_as_writes_where_the_rate_beside_them_says_so(
    rows: tuple[tuple[str, ...], ...], writes: float, single: float, average: float, told: int
) -> None:
    """11.2.0.4 prints the list of tablespaces (not that of files) so."""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    heads = "".join(f"<th>{head}</th>" for head in IO_HEADS)
    text = html(extra=f"<h3>Tablespace IO Stats</h3><table border=1><tr>{heads}</tr>{lines}</table>")
    row = document(text)["tablespace_io"][0]
    assert (row["writes"], row["single_block_reads_per_s"], row["avg_single_block_read_ms"]) == (
        writes, single, average,
    )  # fmt: skip
    assert (row["reads"], row["writes_per_s"], row["buffer_waits"]) == (7200, int(rows[0][8]), 4)
    assert len(warned(text, "displaced headings")) == told


@pytest.mark.parametrize(
    ("times", "printed", "read", "told"),
    [
        (("150", "15"), ("0.15", "0.02"), (15.0, 2.0), 1),
        (("150", "15"), ("15.00", "1.50"), (15.0, 1.5), 0),
        (("0.01", "0.02"), ("0.00", "0.01"), (0.0, 0.01), 0),
    ],
    ids=["fraction", "percent", "too small to tell"],
)
def test_shares_of_background_time_that_are_fractions_are_given_in_percent(
    times: tuple[str, str], printed: tuple[str, str], read: tuple[float, float], told: int
) -> None:
    """Oracle prints the background events of a whole cluster so, and those of an instance in percent."""
    cells = (("event", "10", "0.00", times[at], "1.00ms", printed[at]) for at in (0, 1))
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    heads = "".join(
        f"<th>{head}</th>"
        for head in ("Event", "Waits", "%Time-outs", "Total Wait Time (s)", "Avg wait", "% bg time")
    )
    extra = f"<h3>Background Wait Events</h3><table border=1><tr>{heads}</tr>{rows}</table>"
    text = replaced(
        html(extra=extra),
        "<td>DB CPU</td><td>900.00</td><td>1.5</td><td>88.0</td>",
        "<td>DB CPU</td><td>900.00</td><td>1.5</td><td>88.0</td></tr>"
        "<tr><td>background elapsed time</td><td>1,000.00</td><td></td><td></td>",
    )
    events = document(text)["background_events"]
    assert tuple(row["pct_bg_time"] for row in events) == read
    assert len(warned(text, "as a fraction")) == told


REALDATA = Path(os.environ.get("DBATK_REALDATA", "/nowhere"))


@pytest.mark.skipif(not (REALDATA / "awr").is_dir(), reason="no real reports at DBATK_REALDATA")
def test_no_real_report_is_said_to_deny_itself_or_to_lose_a_line() -> None:
    words = (" by the ", "lines of figures", "ran backwards", "existed at", "% of DB time")
    for path in [*(REALDATA / "awr").iterdir(), *(REALDATA / "statspack").iterdir()]:
        found = read_report(path.read_bytes(), path.name).document()["warnings"]
        assert not [one for one in found if any(word in one for word in words)], path.name


@for_each(
    ("waited", "idle", "warns"),
    [(1875.0, 92.0, True), (4000.0, 92.0, False), (1875.0, 30.0, False), (1875.0, None, False)],
)
@for_each("name", ["foreground_wait_classes", "wait_classes"])
def test_db_time_is_held_against_its_waits_and_cpu(
    name: str, waited: float, idle: float | None, warns: bool
) -> None:
    facts: dict[str, Any] = {"elapsed_min": 30.0, "db_time_min": 102.33}
    sections: dict[str, Any] = {
        "time_model": [{"name": "DB time", "time_s": 6140.0}, {"name": "DB CPU", "time_s": 920.0}],
        name: [{"wait_class": "User I/O", "time_s": waited}, {"wait_class": "DB CPU", "time_s": 920.0}],
        "host_cpu": {} if idle is None else {"idle_pct": idle},
    }
    found = [one for one in inconsistencies(facts, sections) if "account for" in one]
    assert found == (
        ["DB time is 102 min 20 s, yet waits (31 min 15 s) and CPU (15 min 20 s) account for 46 % of it, on a "
         "host 92 % idle: the rest was spent before the interval or was not measured"] if warns else []
    )  # fmt: skip


def sections_of(**more: Any) -> dict[str, Any]:
    model = [{"name": "DB time", "time_s": 1000.0}, {"name": "DB CPU", "time_s": 300.0}]
    return {"time_model": model, **more}


FACTS: dict[str, Any] = {"kind": "awr", "elapsed_min": 60.0}


def event(name: str, time: float, waits: int, share: float | None = None) -> dict[str, Any]:
    return {"event": name, "time_s": time, "waits": waits, "pct_db_time": share}


@pytest.mark.parametrize(
    ("top", "listed", "words"),
    [
        pytest.param(event("a", 500, 10, 50.0), event("a", 500.2, 10), "", id="same"),
        pytest.param(event("a", 500, 10, 50.0), event("a", 400.2, 10), "a time of 8 min 20 s", id="time"),
        pytest.param(event("a", 500, 10, 50.0), event("a", 500.2, 20), "waits: 10 by the top events", id="waits"),
        pytest.param(event("a", 500, 180_000_000, 50.0), event("a", 500.2, 183_604_592), "", id="abbreviated"),
        pytest.param(event("a", 500, 10, 55.0), event("a", 500.2, 10), "55 % of DB time", id="share"),
    ],
)
def test_top_events_are_held_against_the_list_of_all_and_their_shares(
    top: dict[str, Any], listed: dict[str, Any], words: str
) -> None:
    found = inconsistencies(FACTS, sections_of(top_events=[top], foreground_events=[listed]))
    assert len(found) == bool(words) and all(words in one for one in found)


def test_the_header_of_statspack_gives_its_db_cpu_which_is_held_against_the_time_model() -> None:
    header = re.compile(r" +Snap Id     Snap Time.*?Elapsed: .*?\n", re.DOTALL)
    text, _ = header.subn(HEADER_OF_11_2, STATSPACK)
    assert document(text)["db_cpu_min"] == 28.35
    (sentence,) = inconsistencies({**FACTS, "db_cpu_min": 28.35}, sections_of())
    assert sentence == "DB CPU is 28 min 21 s by the header, and 5 min 00 s by the time model"


def test_a_cluster_is_held_against_the_sum_of_its_instances() -> None:
    def instance(cpu: float) -> dict[str, Any]:
        return {"db_time_min": 8.33, "time_model": [{"name": "DB time", "time_s": 500.0},
                                                    {"name": "DB CPU", "time_s": cpu}]}  # fmt: skip

    facts = {**FACTS, "db_time_min": 16.66}
    assert not inconsistencies(facts, sections_of(instances=[instance(150.0), instance(150.0)]))
    (sentence,) = inconsistencies(facts, sections_of(instances=[instance(150.0), instance(50.0)]))
    assert sentence == (
        "DB CPU is 5 min 00 s by the time model of the cluster, and 3 min 20 s by its instances together"
    )


def test_values_below_zero_and_shares_above_the_whole_are_named_in_every_list() -> None:
    table = AwrTable("", "", ("Namespace",), [("SQL AREA", "-15.3", "116"), ("BODY", "1", "2")])
    rows = [{"namespace": "SQL AREA", "pins": -15.3, "pct_get_misses": 116.0},
            {"namespace": "BODY", "pins": 1, "pct_get_misses": 2.0}]  # fmt: skip
    assert list(impossible("library_cache", table, rows)) == [
        "in `library_cache` 1 value is below zero, so a counter ran over or was reset: "
        "`pins` of `SQL AREA` is -15.3",
        "in `library_cache` 1 share is above 100 %: `pct_get_misses` of `SQL AREA` is 116 %",
    ]
    assert not list(
        impossible("library_cache", AwrTable("", "", (), [("a", "1")]), [{"namespace": "a", "pins": 1}])
    )
    finding = {"finding": "Hard Parse", "pct_active_sessions": 150.0}
    assert list(impossible("addm_findings", AwrTable("", "", (), [("Hard Parse", "1.5E+02")]), [finding])) == [
        "in `addm_findings` 1 share is above 100 %: `pct_active_sessions` of `Hard Parse` is 150 %"
    ]
    found = inconsistencies(FACTS, sections_of(sql_by_gets=[{"sql_id": "a", "gets": -5}]))
    assert found == [
        "in `sql_by_gets` 1 value is below zero, so a counter ran over or was reset: `gets` of `a` is -5"
    ]
