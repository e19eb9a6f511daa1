"""Whatever has a name has another one in what is sent out, the same by the same."""

from __future__ import annotations

import json
import re
import string
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as some

from tests.analysis.awr.made import interval, origin
from tests.for_each import for_each
from tests.readers.awr_samples import html
from tests.tiers import examples
from toolkit.analysis.awr.diff import compare_intervals
from toolkit.analysis.awr.masking import Pseudonyms, mask_interval, mask_report
from toolkit.analysis.awr.trend import trends
from toolkit.model.interval import Interval, Listing, Segment, Statement
from toolkit.readers.awr.report import read_report
from toolkit.report.interval.document import diff_document
from toolkit.report.interval.trend import trend_document, trend_page, trend_sheet, trend_text
from toolkit.report.interval.view import diff_page, diff_text

# a letter that no word of ours has beside it, so that finding a name proves a leak
NAMES = some.text(string.ascii_letters + string.digits + "_$#", min_size=2, max_size=20).map(
    lambda tail: f"Qx{tail}"
)
ODD = some.text(some.characters(exclude_categories=["Cs"]), max_size=12).map(lambda tail: f"Qx7{tail}")


def named(names: list[str], odd: str, day: int) -> Interval:
    db, host, instance, owner, table, part, module, column, literal, comment, service = names
    text = (
        f"select /* {comment} */ {column}, '{literal}' from {owner}.{table} -- {comment}\n"
        f"where {column} = q'[{literal}]' and \"{table}\" = N'{literal}''{odd.replace(chr(39), '')}"
    )
    segment = Segment(owner, table, part, "TABLE", 500.0 * (1 + day))
    who = origin(
        f"/srv/{host}/{service}.html",
        day=day,
        database=db,
        dbid=987654321,
        host=host,
        instance=instance,
        container=odd,
    )
    one = Statement(
        "abcdfghjkmn12", 1e4, 700.0 * (1 + 9 * day), 50.0, 1e6 * (1 + 20 * day), module=module, text=text
    )
    return interval(
        day=day, cpu=1000 + 9000 * day, statements=(one,), who=who,
        segments={"Logical Reads": Listing({segment.key: segment}, floors={"value": 1.0})},
        parameters={"db_name": db, "local_listener": f"(HOST={host})", "sga_target": f"{4 + day}G",
                    "service_names": service if day else None},
        changed_parameters={"service_names": (service, odd)},
        container_parameters={odd: {"service_names": service if day else None}},
        container_changes={odd: {"service_names": (service, odd)}},
        warnings=(f"the report has no `{table}`: cut off", f'in "{owner}" 3 values are no numbers'),
    )  # fmt: skip


def masked(names: list[str], odd: str, day: int, salt: Pseudonyms) -> Interval:
    return mask_interval(named(names, odd, day), salt)


@examples(40)
@given(names=some.lists(NAMES, min_size=11, max_size=11), odd=ODD)
def test_no_name_is_left_in_any_form_of_a_comparison_or_a_series(names: list[str], odd: str) -> None:
    salt = Pseudonyms()
    sides = [masked(names, odd, day, salt) for day in (0, 1)]
    diff, series = compare_intervals(*sides), trends(sides, sql=["abcdfghjkmn12"])
    shown = [
        diff_text(diff), diff_page(diff), json.dumps(diff_document(diff)), trend_text(series), trend_page(series),
        trend_sheet(series), json.dumps(trend_document(series)),
    ]  # fmt: skip
    for text in shown:
        assert "qx" not in text.casefold()
        assert "987654321" not in text


@examples(40)
@given(name=NAMES, odd=ODD)
def test_no_name_is_left_in_a_report(name: str, odd: str) -> None:
    raw = html(extra=f"<h3>Odd</h3><table><tr><th>User</th></tr><tr><td>{name}</td></tr></table>")
    for plain in ("ACME", "acme1", "acme_x", "shop", ">P1<", "box"):
        raw = raw.replace(plain, f">{name}<" if plain == ">P1<" else name)
    document = read_report(raw.encode(), f"/srv/{name}.html").document()
    document["later_section"] = [{"later_column": odd, "value": 3}]
    found = json.dumps(mask_report(document, Pseudonyms()))
    assert "qx" not in found.casefold()
    assert '"log file sync"' in found
    assert '"2025-03-02T10:00:00"' in found


@examples(200)
@given(text=some.text(some.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_statement_of_any_kind_keeps_words_of_sql_and_signs_only(text: str) -> None:
    left = Pseudonyms("s").sql(text)
    words = re.findall(r"[^\W\d_]{3,}", re.sub(r"(name|literal)_\d{10}", "", left))
    from toolkit.analysis.awr import masking

    assert {word.lower() for word in words} <= masking._WORDS | {"comment", "available", "text", "not"}


def test_the_same_name_is_the_same_everywhere_and_with_the_same_salt() -> None:
    one, other = Pseudonyms("pepper"), Pseudonyms("pepper")
    assert one.name("SCOTT", "schema") == one.name("scott", "user") == other.name("Scott", "schema")
    assert one.sql("select 1 from scott.emp") == f"select 1 from {one.name('scott')}.{one.name('EMP')}"
    assert Pseudonyms().name("scott") != Pseudonyms().name("scott")
    assert Pseudonyms("salt").name("scott") != Pseudonyms("pepper").name("scott")


def test_a_table_that_is_called_like_a_word_of_sql_is_a_name_where_it_is_known() -> None:
    names = Pseudonyms("s")
    assert names.sql("select x from data").endswith("from data")
    assert names.sql("select x from data").startswith("select name_")
    names.name("DATA", "object")
    assert names.sql("select x from data").endswith(f"from {names.name('data')}")


@for_each(
    "text",
    ["select 'it''s' from t", "select 'cut off", 'select "cut off', "select /* cut off", "select q'[it's]' from t",
     "select q'!a'b!' from t", "select 4111111111111111 from t"],
)  # fmt: skip
def test_literals_are_replaced_however_they_are_written(text: str) -> None:
    left = Pseudonyms("s").sql(text)
    assert not re.search(r"it|cut|off|4111|a'b", left.replace("literal", ""))


def test_masking_changes_no_number() -> None:
    names = [f"Qx{number}" for number in range(11)]
    plain = [named(names, "Qx7", day) for day in (0, 1)]
    salt = Pseudonyms()
    hidden = [replace(mask_interval(one, salt), warnings=one.warnings) for one in plain]
    a, b = compare_intervals(*plain), compare_intervals(*hidden)
    assert a.db_time == b.db_time
    assert [(one.kind, one.impact) for one in a.causes] == [(one.kind, one.impact) for one in b.causes]
    assert [one.kind for one in a.doubts] == [one.kind for one in b.doubts]


def test_parameters_of_containers_lose_their_containers() -> None:
    report = {
        "init_parameters_by_container": {"SALESPDB": {"local_listener": "salesbox", "processes": "300"}},
        "init_parameters_changed_by_container": {"SALESPDB": {"service_names": {"begin": "sales", "end": None}}},
    }
    found = mask_report(report, Pseudonyms("salt"))
    (settings,), (changes,) = (list(found[key].values()) for key in report)  # type: ignore[attr-defined]
    assert all(one.startswith("container_") for key in report for one in found[key])  # type: ignore[attr-defined]
    assert changes["service_names"]["begin"].startswith("value_")
    assert settings["local_listener"].startswith("value_")
    assert settings["processes"] == "300"
