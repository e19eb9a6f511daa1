"""The context of a licence: edition, release, service, parameter, and what the profile declares.

A declaration is necessary but not sufficient: the edition must allow the licence, and the parameter of the packs
must allow it too. Its default proves nothing, one that cannot be read means no, and nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from toolkit.dialects.oracle.licences.lists import DIAGNOSTICS, LicenceList, licences
from toolkit.dialects.oracle.licences.look import LicenceFindings, Use
from toolkit.dialects.oracle.releases import EDITIONS, Edition, edition_of
from toolkit.errors import ToolkitError
from toolkit.model.bill import LicenceStatus
from toolkit.model.facts import Facts

PACK_PARAMETER = "control_management_pack_access"
_UNKNOWN = Edition("", "an unknown edition", parallel=True, enterprise=None)
_XE_WITH_OPTIONS = (18,)
_NOT_DECLARED = "which is not declared for this target"
_LAPSED = "which is declared for this target, but not for today"


@dataclass(frozen=True, slots=True)
class LicenceContext:
    """What is known of a database.

    Attributes:
        declared: licences that the target's profile declares and that hold today.
        edition: a code of `releases.EDITIONS`, or empty.
        release: its number; empty when not known.
        autonomous: whether this is an Autonomous Database: packs and options come with the service.
        pack_access: the parameter's value; None when it could not be read.
        asked: whether it was read: a script for an assumed release is sent nowhere.
        lapsed: licences that the profile declares, but not for today.
        unseen_ok: whether what cannot be seen may be sent; it was asked for, or nothing is sent.
        ruled_by: for a licence the profile of the same database that does not declare it.
    """

    declared: frozenset[str] = frozenset()
    edition: str = ""
    release: tuple[int, ...] = ()
    autonomous: bool = False
    pack_access: str | None = None
    asked: bool = True
    lapsed: frozenset[str] = frozenset()
    unseen_ok: bool = False
    ruled_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LicenceVerdict:
    """Whether a licence may be used here, and why."""

    status: LicenceStatus
    reason: str

    @property
    def allowed(self) -> bool:
        return self.status is not LicenceStatus.REFUSED


def context_of(facts: Facts, declared: frozenset[str] | None = None) -> LicenceContext:
    """Return the context of licences that facts describe.

    Args:
        facts: rows `licences` (column `licence`) name what is declared; `pack_access` and `cloud_service` are the
            files of that name.
        declared: taken instead of the rows.
    """
    rows = facts.rows("licences")
    access = facts.value("pack_access", "pack_access")
    return LicenceContext(
        frozenset(str(row.get("licence")) for row in rows) if declared is None else declared,
        edition_of(facts).code,
        facts.release.number,
        bool(facts.value("cloud_service", "cloud_service")),
        None if access is None else str(access),
        asked=not facts.assumed,
    )


def judge(key: str, context: LicenceContext) -> LicenceVerdict:
    """Judge one licence in its context."""
    licence, edition = licences()[key], EDITIONS.get(context.edition, _UNKNOWN)
    if context.autonomous:
        return LicenceVerdict(LicenceStatus.INCLUDED, "included in Autonomous Database")
    if edition.enterprise is False:
        return LicenceVerdict(
            LicenceStatus.REFUSED, f"which is not available for {edition.words}{_although(key, context)}"
        )
    if not licence.declarable:
        return LicenceVerdict(LicenceStatus.INCLUDED, _comes_with(licence, edition))
    found = _without_declaration(edition, context) if licence.kind == "option" else None
    if found is not None:
        return found
    off = _NOT_DECLARED if key not in context.declared else ""
    off = _LAPSED if off and key in context.lapsed else off
    if off and key in context.ruled_by:
        off = f"which profile `{context.ruled_by[key]}` of the same database does not declare"
    off = off or (_switched_off(key, context) if licence.kind == "pack" else "")
    return (
        LicenceVerdict(LicenceStatus.REFUSED, off)
        if off
        else LicenceVerdict(LicenceStatus.DECLARED, "you declared it")
    )


def _comes_with(licence: LicenceList, edition: Edition) -> str:
    if licence.kind == "storage":
        return "comes with Exadata, ZFS or FS1 storage; elsewhere ORA-64307"
    return "comes with Enterprise Edition" if edition.enterprise else "V$OPTION shows what this edition includes"


def _without_declaration(edition: Edition, context: LicenceContext) -> LicenceVerdict | None:
    """Judge an option on the editions that are free of charge (Licensing Information, XE 18 to Free 23)."""
    if edition.code == "free" or (edition.code == "xe" and context.release >= _XE_WITH_OPTIONS):
        return LicenceVerdict(LicenceStatus.INCLUDED, f"part of Oracle Database {edition.words}")
    if edition.code == "xe":
        return LicenceVerdict(LicenceStatus.REFUSED, "which is not available for Express Edition before 18")
    return None


def _although(key: str, context: LicenceContext) -> str:
    return ", although it is declared" if key in context.declared else ""


def _switched_off(key: str, context: LicenceContext) -> str:
    """Say why a declared pack is off (REFRN: NONE, DIAGNOSTIC, DIAGNOSTIC+TUNING)."""
    if not context.asked:
        return ""
    if context.pack_access is None:
        return f"which is declared, but {PACK_PARAMETER} cannot be read, so it counts as off"
    value = context.pack_access.upper()
    if value == "DIAGNOSTIC+TUNING" or (value == "DIAGNOSTIC" and key == DIAGNOSTICS):
        return ""
    return f"which is declared, but {PACK_PARAMETER} is {value or 'empty'}: it is switched off in this database"


def refusals(findings: LicenceFindings, context: LicenceContext) -> Iterator[ToolkitError]:
    """Yield an error for each use that the context does not allow, for what is unseen, and for a change of packs.

    What is unseen may be anything: it passes where it was allowed, or where all packs come with the service.
    """
    if findings.changes_packs:
        yield ToolkitError(
            f"the statement would change {PACK_PARAMETER}; dbatk never does",
            code="TK-0303",
            hint="the parameter states what your site may use: let its owner set it",
        )
    for use in findings.uses:
        licence = licences()[use.licence]
        for key in (use.licence, *licence.needs):
            found = judge(key, context)
            if not found.allowed:
                yield _refusal(use, licence, key, found.reason, context)
                break
    if findings.unseen and not context.unseen_ok and not context.autonomous:
        more = f" (and {len(findings.unseen) - 1} more)" if len(findings.unseen) > 1 else ""
        yield ToolkitError(
            f"whether this needs a licence cannot be seen: {findings.unseen[0]}{more}",
            code="TK-0303",
            hint="name the objects in plain SQL; or, if you know that it touches no pack, add `--allow-unchecked`",
        )


def refuse(findings: LicenceFindings, context: LicenceContext) -> None:
    """Refuse what the context does not allow.

    Raises:
        ToolkitError: TK-0303 naming the object, the licence, and how to do without.
    """
    for error in refusals(findings, context):
        raise error


def _refusal(use: Use, licence: LicenceList, missing: str, reason: str, context: LicenceContext) -> ToolkitError:
    thing = f"`{use.thing}`{f' ({use.by})' if use.by else ''}"
    belongs = f"{thing} belongs to {licence.title}"
    needed = "" if missing == licence.key else f", which needs {licences()[missing].title}"
    hint = licence.alternative
    if reason in {_NOT_DECLARED, _LAPSED}:
        hint += f"; or declare it in the profile: `licenses.{missing} = {{by, on, until}}`"
    elif "cannot be read" in reason:
        hint += "; or GRANT SELECT ON SYS.V_$PARAMETER"
    sentence = f"{belongs}{needed}, {reason}" if licence.kind != "edition" else f"{thing} needs {licence.title}"
    if licence.kind == "edition":
        sentence += f"; this is {EDITIONS[context.edition].words}"
    return ToolkitError(sentence, code="TK-0303", hint=hint)
