"""What is said, when, to whom, and that nothing a database says can do harm there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.notify.runs import run, step
from tests.notify.sinks import Hook, Mailbox, Silence, serving
from tests.tiers import examples
from toolkit.app.notices import tell, tell_digest, tell_trial
from toolkit.config.notices import Notices, NotifyOn, Recipient, load_notices
from toolkit.config.secrets import SecretKind, SecretRef
from toolkit.errors import ToolkitError
from toolkit.model.plan import PlanRunRecord
from toolkit.model.words import RunState
from toolkit.notify.deliver import DeliveryAddress, deliver
from toolkit.notify.message import digest_message, reasons_of, refusal_message, run_message, safe

EVIL = "ORA-1\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script> @here <!channel> \x1b[31m\u202e"


def recipient(url: str, monkeypatch: pytest.MonkeyPatch, *when: str, name: str = "dba") -> Recipient:
    monkeypatch.setenv(f"URL_{name}", url)
    reasons = frozenset(map(NotifyOn, when or ("failure", "recovery")))
    return Recipient(name, SecretRef(SecretKind.ENV, f"URL_{name}"), reasons)


def mail(port: int, password: str = "") -> str:
    login = f"sender:{password}@" if password else ""
    return f"mailto://{login}127.0.0.1:{port}?from=dbatk@example.com&to=dba@example.com&mode=insecure"


# -- when -------------------------------------------------------------------------------------------------------
@for_each(
    ("now", "before", "expected"),
    [
        (["failed"], ["done"], {"always", "failure", "change"}),
        (["failed"], ["failed"], {"always", "failure"}),
        (["done"], ["failed"], {"always", "recovery", "change"}),
        (["done"], ["done"], {"always"}),
        (["done"], None, {"always", "change"}),
        (["stopped"], ["done"], {"always", "change"}),
        (["stopped"], ["failed"], {"always", "change"}),
        (["done", "skipped"], ["done", "done"], {"always", "change"}),
    ],
)
def test_a_run_is_worth_a_message_for_what_became_of_it(
    now: list[str], before: list[str] | None, expected: set[str]
) -> None:
    made = [
        run(*(step(state, f"s{at}") for at, state in enumerate(states)))
        for states in (now, before)
        if states is not None
    ]
    assert reasons_of(made[0], made[1:]) == expected


@pytest.mark.parametrize(("first", "recovered"), [("failed", True), ("done", False)])
def test_a_failure_is_over_once_a_run_succeeds_not_when_one_is_stopped(first: str, *, recovered: bool) -> None:
    before, stopped, now = run(step(first), days_ago=2), run(step("stopped"), days_ago=1), run(step())
    said = run_message(stopped, reasons_of(stopped, [before]))
    assert "did not complete" in said.subject and "succeeded" not in said.text
    assert (NotifyOn.RECOVERY in reasons_of(now, [stopped, before])) is recovered


def test_only_who_wants_it_of_this_plan_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    one = recipient("json://x", monkeypatch)
    assert one.wants("nightly", frozenset({NotifyOn.FAILURE, NotifyOn.ALWAYS}))
    assert not one.wants("nightly", frozenset({NotifyOn.ALWAYS, NotifyOn.CHANGE}))
    assert not Recipient("d", one.url, one.when, ("weekly*",)).wants("nightly", one.when)


# -- what -------------------------------------------------------------------------------------------------------
def test_a_failure_is_named_first_with_its_reason() -> None:
    reason = "ORA-01652: unable to extend temp segment by 128 in tablespace TEMP, while an index was rebuilt"
    bad = step("failed", "indexes", reason=reason, expected_seconds=30.0)
    record = run(step(), bad, step("skipped", "archive", reason="only_if: 3 < 10", began_at=None))
    said = run_message(record, reasons_of(record, ()))
    assert said.subject == "dbatk: plan nightly failed: indexes on dwh"
    assert (
        said.text
        == """\
Plan nightly failed.

Began:        2026-11-21 21:00 UTC
Ended:        2026-11-21 21:05 UTC
Window until: 2026-11-22 05:00 UTC
Host:         db1

Failed: indexes on dwh
    took 61.5 s, expected 30.0 s
    ORA-01652: unable to extend temp segment by 128 in tablespace TEMP,
    while an index was rebuilt

Skipped: archive on dwh
    only_if: 3 < 10

Ok: statistics on dwh, took 61.5 s

Full report: dbatk plan report 20261121-210000-0000
"""
    )


@for_each(
    ("record", "subject"),
    [
        (run(step(), step(target="crm")), "plan nightly is done on dwh, crm"),
        (run(*(step(target=f"t{at}") for at in range(5))), "plan nightly is done on t0, t1 and 3 more"),
        (run(step("failed"), step("failed", target="crm")), "plan nightly failed: statistics on dwh, crm"),
        (
            run(step("stopped"), stopped_by="the window closed"),
            "plan nightly did not complete on dwh: the window closed",
        ),
        (run(step(), state=RunState.DIED, stopped_by="kill -9"), "plan nightly died on dwh: kill -9"),
        (run(state=RunState.FAILED, stopped_by="no window"), "plan nightly failed: no window"),
    ],
)
def test_a_subject_says_the_outcome_the_plan_and_the_target(record: PlanRunRecord, subject: str) -> None:
    reasons = reasons_of(record, ())
    assert run_message(record, reasons).subject == f"dbatk: {subject}"


@examples(200)
@given(st.text(max_size=400), st.text(max_size=80))
def test_no_line_of_a_mail_is_wider_than_mail_is(reason: str, name: str) -> None:
    said = run_message(
        run(step("failed", name or "x", reason=reason), stopped_by=reason), frozenset({NotifyOn.FAILURE})
    )
    assert all(len(line) <= 72 or " " not in line.strip() for line in said.text.splitlines())


def test_what_a_database_says_stays_one_harmless_line() -> None:
    record = run(step("failed", EVIL[:20], target=EVIL, reason=EVIL), stopped_by=EVIL)
    said = run_message(record, reasons_of(record, ()))
    assert "\n" not in said.subject and "\r" not in said.subject
    for text in (said.subject, said.text):
        assert "@here" not in text and "<!channel" not in text
        assert "\x1b" not in text and "\u202e" not in text
    assert not any(line.startswith("Bcc") for line in said.text.splitlines())


def test_addresses_and_codes_stay_as_they_are() -> None:
    text = "ORA-00942 in postgresql://dba@db1:5432/dwh, 3 < 10, a > b, 100 %"
    assert safe(text) == text


def test_the_digest_has_the_bad_runs_first() -> None:
    runs = [run(step(), plan="good"), run(step("failed"), plan="bad", days_ago=1)]
    said = digest_message(runs, runs[1].began_at)
    assert said.subject.startswith("dbatk: 2 plan runs, 1 failed since 2026-11-20")
    assert said.text.index("Plan bad failed.") < said.text.index("Plan good is done.")
    assert "no plan has run" in digest_message([], runs[0].began_at).subject


def test_a_thousand_steps_make_no_thousand_lines() -> None:
    record = run(*(step(name=f"s{at}") for at in range(1000)), step("failed", "last"))
    said = run_message(record, reasons_of(record, ()))
    assert len(said.text.splitlines()) < 250
    assert "Failed: last" in said.text and "of 1001 steps" in said.text


# -- arriving ---------------------------------------------------------------------------------------------------
def test_a_mail_arrives_with_its_subject_and_no_header_of_somebody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    record = run(step("failed", reason=EVIL), stopped_by=EVIL)
    with serving(Mailbox) as (port, received):
        assert tell([record], Notices((recipient(mail(port), monkeypatch),))) == ()
    (message,) = received
    assert message["Subject"] == "dbatk: plan nightly failed: statistics on dwh"  # type: ignore[index]
    assert message["To"] == "dba@example.com" and message["Bcc"] is None  # type: ignore[index]
    assert message.get_content_type() == "text/plain"  # type: ignore[attr-defined]
    text = message.get_content()  # type: ignore[attr-defined]
    assert "ORA-1 Bcc: all@example.com" in text
    assert "Failed: statistics on dwh|    took 61.5 s|" in "|".join(text.splitlines())


def test_a_webhook_gets_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hook) as (port, received):
        url = f"json://127.0.0.1:{port}/hook"
        assert tell([run(step("failed"))], Notices((recipient(url, monkeypatch),))) == ()
    (body,) = received
    assert body["title"] == "dbatk: plan nightly failed: statistics on dwh"  # type: ignore[index]
    assert "Failed: statistics on dwh" in body["message"]  # type: ignore[index]


def test_failure_and_recovery_are_told_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = run(step()), run(step("failed"))
    with serving(Hook) as (port, received):
        notices = Notices((recipient(f"json://127.0.0.1:{port}", monkeypatch),))
        for runs in ([good], [bad, good], [good, bad], [good, good]):
            assert tell(runs, notices) == ()
    assert [(body["title"], body["type"]) for body in received] == [  # type: ignore[index]
        ("dbatk: plan nightly failed: statistics on dwh", "failure"),
        ("dbatk: plan nightly succeeded again on dwh", "success"),
    ]


@pytest.mark.parametrize(
    ("record", "tone"),
    [(run(step("failed")), "failure"), (run(step()), "success"), (run(step("stopped")), "warning")],
    ids=["failed", "done", "did not complete"],
)
def test_a_message_looks_as_bad_as_it_is(record: PlanRunRecord, tone: str) -> None:
    assert run_message(record, reasons_of(record, ())).tone == tone
    assert digest_message([record], record.began_at).tone == ("failure" if tone == "failure" else "info")
    assert refusal_message("nightly", ToolkitError("no", code="TK-0201"), "host").tone == "failure"


def test_the_digest_goes_to_those_who_want_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hook) as (port, received):
        url = f"json://127.0.0.1:{port}"
        to = (recipient(url, monkeypatch, "digest"), recipient(url, monkeypatch, "failure", name="other"))
        record = run(step())
        assert tell_digest([record], record.began_at, Notices(to)) == (1, ())
        assert tell([record], Notices(to)) == ()
    assert len(received) == 1


def test_a_test_message_reaches_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hook) as (port, received):
        assert tell_trial(Notices((recipient(f"json://127.0.0.1:{port}", monkeypatch),))) == ()
    assert "test" in received[0]["title"]  # type: ignore[index]


# -- not arriving -----------------------------------------------------------------------------------------------
def test_who_cannot_be_reached_is_a_sentence_without_the_secret(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(Hook, status=500) as (port, _):
        to = (
            recipient(f"json://user:s3cret@127.0.0.1:{port}", monkeypatch),
            recipient(mail(1, "s3cret"), monkeypatch, name="mail"),
            recipient("s3cret://nothing", monkeypatch, name="odd"),
        )
        problems = tell([run(step("failed"))], Notices(to))
    assert [problem.split()[0] for problem in problems] == ["`dba`", "`mail`", "`odd`"]
    assert problems[0].endswith("reached: the server answered 500")
    assert problems[1].endswith("reached: connection refused")
    captured = capfd.readouterr()
    assert "s3cret" not in "".join(problems) + captured.out + captured.err
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize(
    ("refusal", "shown"),
    [
        ("5.1.1 nobody here\x1b[31m", " 5.1.1 nobody here\\x1b[31m"),
        ("s3cret is not a user", ""),
        ("p@ss is not a salt", ""),
    ],
)
def test_what_a_mail_server_answers_is_shown_unless_it_repeats_the_secret(refusal: str, shown: str) -> None:
    record = run(step("failed"))
    with serving(Mailbox, status=550, refusal=refusal) as (port, _):
        address = DeliveryAddress("dba", f"{mail(port)}&name=s3cret&salt=p%40ss")
        (problem,) = deliver([address], run_message(record, reasons_of(record, ())))
    assert problem.endswith(f"reached: the server answered 550{shown}")


def test_a_variable_that_is_not_set_keeps_nobody_else_from_hearing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Hook) as (port, received):
        missing = Recipient("lost", SecretRef(SecretKind.ENV, "URL_NOT_THERE"))
        notices = Notices((missing, recipient(f"json://127.0.0.1:{port}", monkeypatch)))
        (problem,) = tell([run(step("failed"))], notices)
    assert "`lost`" in problem and "URL_NOT_THERE" in problem
    assert len(received) == 1


def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    record = run(step("failed"))
    with serving(Silence) as (port, _):
        (problem,) = deliver(
            [DeliveryAddress("slow", mail(port))],
            run_message(record, reasons_of(record, ())),
            limit_seconds=0.3,
        )
    assert "within 0.3 s" in problem


def test_without_the_library_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "apprise", None)
    (problem,) = tell([run(step("failed"))], Notices((recipient("json://x", monkeypatch),)))
    assert "dbatk[notify]" in problem


# -- the file ---------------------------------------------------------------------------------------------------
def write(folder: Path, text: str) -> Path:
    path = folder / "notify.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_says_who_is_told_when(tmp_path: Path) -> None:
    found = load_notices(write(tmp_path, """
        metrics_folder = "/var/lib/node_exporter"
        [[to]]
        name = "dba"
        url = {file = "/etc/dbatk/mail.url"}
        [[to]]
        name = "chat"
        url = {env = "CHAT"}
        when = ["change", "digest"]
        plans = ["nightly*"]
    """))  # fmt: skip
    assert [(one.name, one.url.kind, sorted(one.when), one.plans) for one in found.to] == [
        ("dba", "file", ["failure", "recovery"], ("*",)),
        ("chat", "env", ["change", "digest"], ("nightly*",)),
    ]
    assert str(found.metrics_folder) == "/var/lib/node_exporter"
    assert load_notices(tmp_path / "missing.toml") == Notices()


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ('[[to]]\nname = "x"\nurl = "mailto://u:geheim@h"', "TK-0108", ":3:"),
        ('[[to]]\nname = "x"\nurl = {wallet = "/w"}', "TK-0106", ":3:"),
        ('[[to]]\nname = "x"\nurl = {env = "U"}\nwhen = ["failed"]', "TK-0102", "failed"),
        ('[[to]]\nname = "x"\nurl = {env = "U"}\nwen = ["failure"]', "TK-0101", "wen"),
        ('[[to]]\nurl = {env = "U"}', "TK-0102", "name"),
        ('[[to]]\nname = "x"\nurl = {env = "U"}\n[[to]]\nname = "x"\nurl = {env = "V"}', "TK-0107", "two"),
        ('metric_folder = "/x"', "TK-0101", "metric_folder"),
        ('metrics_folder = "here"', "TK-0102", "absolute"),
        ("[to]\nname = 'x'", "TK-0106", "to"),
    ],
)
def test_a_wrong_file_is_a_sentence_with_its_line(text: str, code: str, word: str, tmp_path: Path) -> None:
    with pytest.raises(ToolkitError) as caught:
        load_notices(write(tmp_path, text))
    assert caught.value.code == code and word in caught.value.message
    assert "geheim" not in caught.value.message + caught.value.hint
    assert "notify.toml" in caught.value.message


@for_each(
    ("url", "why"),
    [
        ("mailto://USER:secret@mail:2525?to=a@example.com", "add `&from=dbatk@example.com` to it"),
        ("mailto://USER:secret@127.0.0.1?to=a@example.com", "add `&from=dbatk@example.com` to it"),
        ("mailto://USER:secret@mail?to=a@example.com&from=none", "its URL is unknown to apprise"),
        ("nosuch://USER:secret@mail", "its URL is unknown to apprise"),
    ],
)
def test_a_url_that_leads_nowhere_is_told_why(url: str, why: str) -> None:
    record = run(step("failed"))
    (problem,) = deliver([DeliveryAddress("dba", url)], run_message(record, reasons_of(record, ())))
    assert problem.startswith("`dba` received no message: ") and problem.endswith(why)
    assert "secret" not in problem


def test_a_mail_host_without_a_domain_is_enough_where_the_sender_is_named() -> None:
    record = run(step("failed"))
    url = "mailto://USER:secret@localhost:1?to=a@example.com&from=dbatk@example.com"
    (problem,) = deliver([DeliveryAddress("dba", url)], run_message(record, reasons_of(record, ())))
    assert "the service refused it or cannot be reached" in problem
    assert "secret" not in problem
