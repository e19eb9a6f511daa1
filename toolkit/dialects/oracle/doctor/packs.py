"""Management packs: what the parameter says, what the profile declares, and whether Statspack stands in."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.dialects.answers import Check
from toolkit.dialects.oracle import places
from toolkit.dialects.oracle.degrees import parameters
from toolkit.model.facts import Facts


def checks(facts: Facts) -> Iterator[Check]:
    """Judge AWR and Statspack."""
    yield from _awr(facts)
    yield from _statspack(facts)


def _awr(facts: Facts) -> Iterator[Check]:
    value = parameters(facts).get("control_management_pack_access")
    declared = sorted(str(row["licence"]) for row in facts.rows("licences"))
    if places.service_of(facts).packs_included:
        yield Check("awr", "ok", f"{places.service_of(facts).words} includes the packs")
        return
    said = f"control_management_pack_access is {value or 'not told'}"
    if "diagnostics_pack" not in declared:
        yield Check(
            "awr",
            "note",
            f"{said}; the profile declares {', '.join(declared) or 'nothing'}",
            "a switch, no proof of a licence: AWR, ASH and SQL Monitor are not read",
            "where it is licensed: dbatk target add NAME URL --license diagnostics_pack --licensed-by YOU",
        )
    elif value is not None and value.upper() == "NONE":
        yield Check(
            "awr",
            "warning",
            f"{said}; the profile declares {', '.join(declared)}",
            "snapshots hold no rows while it is NONE",
            "have it set to DIAGNOSTIC, or measure by vstat",
        )
    else:
        yield Check("awr", "ok", f"{said}; you declared {', '.join(declared)}")


def _statspack(facts: Facts) -> Iterator[Check]:
    if not any(row.get("schema_mark") == "PERFSTAT" for row in facts.rows("doctor_marks")):
        if "doctor_marks" in facts.answers:
            yield Check("statspack", "ok", "not installed; vstat serves instead")
        return
    seen = {row.get("object_name") for row in facts.rows("doctor_visible") if row.get("owner_name") == "PERFSTAT"}
    if {"STATSPACK", "STATS$SNAPSHOT"} <= seen:
        yield Check("statspack", "ok", "installed and readable")
    else:
        yield Check(
            "statspack",
            "note",
            "installed, not readable",
            "it is not used",
            "`dbatk doctor --grants` lists the grants",
        )
