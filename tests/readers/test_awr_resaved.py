"""A report says the same, however it was saved, moved about, stripped of its marks or encoded."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tiers import thinned
from toolkit.readers.awr.report import read_report

AWR = Path(os.environ.get("DBATK_REALDATA", "/nowhere")) / "awr"
pytestmark = pytest.mark.skipif(not AWR.is_dir(), reason="set DBATK_REALDATA to the folder of real reports")
FILES = (
    "pcambell__11g_rac__awrrpt_1_24703_24704.html", "pcambell__12c_rac__awrrpt_1_56288_56289.html",
    "jdmoreno__PRD_72365_72367.html", "Azure__AWR_DBW.html", "bimap__orcl-pdb2_5434_5435.html",
)  # fmt: skip


def _layout(text: str) -> str:
    body = re.sub(r"(?i)</?(html|head|body|style)[^>]*>", "", text)
    return f"<html><body><table><tr><td>Dear all,<p>{body}</td></tr></table></body></html>"


def _word(text: str) -> str:
    cells = re.sub(r"(?i)<(t[dh])\b([^>]*)>", r"<\1 style='padding:0'\2><p class=MsoNormal><span lang=EN>", text)
    return re.sub(r"(?i) summary=(\"[^\"]*\"|'[^']*')", "", cells)


def _bare(text: str) -> str:
    """Leave nothing but the tables: no headings, no summaries, no words between."""
    plain = re.sub(r"(?i) summary=(\"[^\"]*\"|'[^']*')", "", re.sub(r"(?i)<p */?>[^<]*", "<p>", text))
    return re.sub(r"(?is)<h[23]\b.*?</h[23]>", "", plain)


def _shuffled(text: str) -> str:
    parts = re.split(r"(?i)(?=<h[23]\b)", text)
    tail = parts[-1].rpartition("End of Report")
    return parts[0] + "".join(reversed([*parts[1:-1], tail[0]])) + tail[1] + tail[2]


RESAVED: dict[str, Callable[[str], bytes]] = {
    "without summaries": lambda text: re.sub(r"(?i) summary=(\"[^\"]*\"|'[^']*')", "", text).encode(),
    "headings as cells": lambda text: re.sub(r"(?i)<(/?)th\b", r"<\1td", text).encode(),
    "upper case tags": lambda text: re.sub(r"<(/?\w+)", lambda tag: tag[0].upper(), text).encode(),
    "attributes without quotes": lambda text: re.sub(r"=[\"']([\w#]+)[\"']", r"=\1", text).encode(),
    "without closing tags": lambda text: re.sub(r"(?i)</t[rdh]>", "", text).encode(),
    "line feeds of Windows": lambda text: text.replace("\n", "\r\n").encode(),
    "UTF-16 with its mark": lambda text: text.encode("utf-16"),
    "UTF-16 without a mark": lambda text: text.encode("utf-16-be"),
    "UTF-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "windows-1252": lambda text: text.replace("Report Summary", "R\xe9sum\xe9", 1).encode("cp1252", "replace"),
    "gzip": lambda text: gzip.compress(text.encode()),
    "a mail that lays it out": lambda text: _layout(text).encode(),
    "a word processor": lambda text: _word(text).encode(),
    "sections in another order": lambda text: _shuffled(text).encode(),
    "without words between its tables": lambda text: _bare(text).encode(),
    "headings as plain text": lambda text: re.sub(r"(?i)<(/?)h3\b[^>]*>", r"<\1div>", text).encode(),
    "in one line": lambda text: text.replace("\n", " ").encode(),
}  # fmt: skip
KEYS = (
    "scope", "db_name", "dbid", "instance", "inst_num", "version", "rac", "cdb", "startup_time", "host",
    "platform", "cpus", "cores", "sockets", "memory_gb", "begin_snap_id", "begin_snap_time",
    "begin_sessions", "end_snap_id", "end_snap_time", "end_sessions", "elapsed_min", "db_time_min",
    "load_profile_per_sec", "load_profile_per_txn", "instance_efficiency_pct", "top_events", "host_cpu",
    "instance_cpu", "time_model", "wait_classes", "io_profile", "sql_by_elapsed", "sql_by_cpu",
    "sql_by_gets", "sql_by_reads", "segments", "init_parameters", "instances", "foreground_events",
    "background_events",
)  # fmt: skip


def document(raw: bytes) -> dict[str, Any]:
    return read_report(raw, "report").document()


@pytest.mark.parametrize("way", RESAVED)
@pytest.mark.parametrize("file", thinned(FILES, 4))
def test_a_report_saved_in_another_way_says_the_same(file: str, way: str) -> None:
    raw = (AWR / file).read_bytes()
    plain, resaved = document(raw), document(RESAVED[way](raw.decode("utf-8", "replace")))
    for one in (plain, resaved):  # the parts of a value come in the order of their tables
        one["init_parameters"] = {
            name: sorted(str(value).split(", ")) for name, value in one["init_parameters"].items()
        }
    different = [key for key in KEYS if plain.get(key) != resaved.get(key)]
    assert different == []
