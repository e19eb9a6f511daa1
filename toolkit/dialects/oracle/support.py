"""Whether a target can do a piece of work, and the sentence a DBA would want; never a bare boolean."""

from __future__ import annotations

import functools

from toolkit.dialects.oracle import spelling
from toolkit.dialects.oracle.options import option_is_off
from toolkit.dialects.oracle.places import ServiceLimit, refusal_of, service_of
from toolkit.dialects.oracle.releases import MAINTAINED_SCHEMAS, edition_of
from toolkit.dialects.work import Work
from toolkit.model.facts import Facts, SameFacts
from toolkit.model.values import Support
from toolkit.model.words import ObjectKind, SupportState

SUPPORTED = Support(SupportState.SUPPORTED)

PRIVILEGES = "doctor_privileges"
"""The file that reads the privileges of this session; read where an option needs one (`option_files`)."""

# Who a session is that connected AS SYSDBA, SYSBACKUP ... (Database Security Guide, administrative accounts).
_ADMINISTRATIVE = frozenset({"SYS", "SYSBACKUP", "SYSDG", "SYSKM", "SYSRAC", "PUBLIC"})


def of_session(work: Work, facts: Facts) -> Support | None:
    """Judge what every work of a session stands on: whose session and objects, which degree.

    Statistics of the server itself are Oracle's own objects, and work of SYSDBA.
    """
    if work.option("server") is not None:
        return _place(work, facts) or _trace(work, facts) or _degree(work, facts)
    return (
        _place(work, facts)
        or _session(facts)
        or _trace(work, facts)
        or _owner(work, facts)
        or _degree(work, facts)
    )


def _place(work: Work, facts: Facts) -> Support | None:
    """Judge where the session is, and what a managed service keeps from its users."""
    refusal = refusal_of(facts)
    if refusal is not None:
        return _no(refusal)
    service, asked = service_of(facts), work.option("tablespace")
    if service.tablespaces and isinstance(asked, str) and asked.strip('"').upper() not in service.tablespaces:
        return _no(f"{service.barred[ServiceLimit.TABLESPACES]}; omit `tablespace`")
    if work.option("sql_trace") and ServiceLimit.TRACE_FILES in service.barred:
        return _no(f"{service.barred[ServiceLimit.TRACE_FILES]}; omit `sql_trace`")
    return None


def lacking(privilege: str, what: str, instead: str, facts: Facts) -> Support | None:
    """Refuse what needs a system privilege that this session lacks; None where it has it, or that is unknown.

    Args:
        privilege: as GRANT names it.
        what: what needs it, after "may not".
        instead: what to do without it.
        facts: with the answer of `PRIVILEGES`, which shows what roles bring, too.
    """
    held = {str(row.get("privilege")) for row in facts.rows(PRIVILEGES)}
    if not held or privilege in held:
        return None
    user = facts.value("server", "user_name") or "this user"
    sentence = f"{user} may not {what} (ORA-01031): that needs {privilege}"
    return Support(SupportState.NEEDS_PRIVILEGE, sentence, f"GRANT {privilege} TO {user}, or {instead}")


def _trace(work: Work, facts: Facts) -> Support | None:
    if not work.option("sql_trace"):
        return None
    return lacking("ALTER SESSION", "trace its sessions", "omit --sql-trace", facts)


def _session(facts: Facts) -> Support | None:
    user = str(facts.value("server", "user_name") or "")
    if user in _ADMINISTRATIVE:
        return _no(
            f"the session is {user}: tables, indexes and statistics are not for this user, and behave "
            "differently there; connect as your own account (omit `mode` in the profile)"
        )
    return None


def _owner(work: Work, facts: Facts) -> Support | None:
    schema = work.object.name.name if work.object.kind is ObjectKind.STATISTICS else work.object.name.schema
    schema = schema or str(facts.value("server", "current_schema") or "")
    if schema in MAINTAINED_SCHEMAS or _said_maintained(facts, schema):
        sentence = f"`{schema}` belongs to the database software; use your own schema"
        return Support(SupportState.UNSUPPORTED, sentence, "use your own schema; --work-schema puts copies there")
    return None


def _said_maintained(facts: Facts, schema: str) -> bool:
    return schema in _maintained(SameFacts(facts))


@functools.lru_cache(maxsize=8)
def _maintained(same: SameFacts) -> frozenset[str]:
    """Return the schemas that the catalogue says are the software's own: looked for once, not for each object."""
    return frozenset(
        str(row.get("schema_name"))
        for rows in same.facts.answers.values()
        for row in rows
        if row.get("oracle_maintained") == "Y"
    )


def _degree(work: Work, facts: Facts) -> Support | None:
    if spelling.is_serial(work):
        return None
    edition = edition_of(facts)
    if not edition.parallel:
        return _no(
            f"Oracle {edition.words} runs every statement serially; a degree above 1 needs Enterprise Edition"
        )
    if option_is_off(facts, "Parallel execution"):
        return _no("V$OPTION says that parallel execution is not part of this installation")
    return None


def _no(sentence: str) -> Support:
    return Support(SupportState.UNSUPPORTED, sentence)
