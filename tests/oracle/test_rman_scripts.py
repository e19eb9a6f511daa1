"""RMAN scripts: the closed list of what they may say, over every option; no grammar of RMAN's judges them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.oracle.make import BACKUP as REF
from tests.oracle.make import assumed, steps, work
from tests.oracle.standin.rman_program import Block, Failed, Session, commands
from toolkit.dialects.oracle.backup.order import BackupAction, act_of, order_of
from toolkit.dialects.oracle.backup.remarks import remarks
from toolkit.dialects.oracle.backup.script import command_id, delete, spell
from toolkit.dialects.oracle.backup.texts import PATTERNS, fits
from toolkit.dialects.oracle.dialect import DIALECT
from toolkit.dialects.oracle.licences import look
from toolkit.errors import ToolkitError
from toolkit.model.experiment import OptionValue
from toolkit.model.words import Mode
from toolkit.resources import template_root

OPERATION = "backup"
TEMPLATES = sorted((template_root() / "oracle").glob("*.rman.j2"))
# Every command that may stand in a script, as its first words.
VERBS = (
    "SET COMMAND ID TO", "SET BACKUP COPIES 1", "SET COMPRESSION ALGORITHM", "SET ENCRYPTION ALGORITHM 'AES",
    "SET ENCRYPTION ON FOR ALL TABLESPACES", "ALLOCATE CHANNEL", "RELEASE CHANNEL",
    "BACKUP FULL AS", "BACKUP AS", "BACKUP INCREMENTAL LEVEL", "BACKUP VALIDATE AS BACKUPSET", "VALIDATE",
    "RESTORE", "RECOVER COPY OF", "DELETE NOPROMPT BACKUPPIECE",
)  # fmt: skip
# ORACLE.md E4, rule 7, and whatever else would touch the real backups or the configuration.
FORBIDDEN = re.compile(
    r"\b(?:CONFIGURE|CROSSCHECK|OBSOLETE|EXPIRED|CATALOG|DELETE\s+(?:ALL\s+)?INPUT|NOT\s+BACKED|SWITCH|RECOVER|"
    r"RECOVERY\s+(?:AREA|FILES)|CHANGE|SQL|HOST|DUPLICATE|KEEP|FLASHBACK|STARTUP|SHUTDOWN|DROP|COPY|REPORT|"
    r"EXECUTE|RUN_SCRIPT|CONNECT\s+TARGET)\b"
)
FOLDERS = st.sampled_from(["/backup/bench", "/b/2", "+DATA", "/with blank/x"])
NAMES = st.sampled_from(["USERS", "PDB1:DATA", "SYSTEM", "T$X"])


def commands_of(text: str) -> list[str]:
    """Return the commands of a script, those of its block among them."""
    body = re.sub(r"^RUN \{$|^\}$", "", text, flags=re.MULTILINE)
    return [" ".join(command.split()) for command in body.split(";") if command.strip()]


def without_literals(text: str) -> str:
    return re.sub(r"'[^']*'", "''", text)


def unless_asked(bare: str, options: dict[str, OptionValue], mode: Mode) -> str:
    """Leave out what a job may say where it was asked for by name, and where only archived logs are backed up."""
    if mode is not Mode.JOB:
        return bare
    if options.get("merge_copy"):
        bare = re.sub(r"RECOVER COPY OF (?:DATABASE|TABLESPACE|DATAFILE)[^;]* WITH TAG ''", "", bare)
        bare = bare.replace("FOR RECOVER OF COPY WITH TAG ''", "")
    if options.get("keep_days"):
        bare = bare.replace("KEEP UNTIL TIME ''", "")
    if options.get("scope") == "archivelog" and options.get("not_backed_up"):
        bare = re.sub(r"NOT BACKED UP \d TIMES", "", bare)
    if options.get("scope") == "archivelog" and options.get("delete_input") is True:
        bare = re.sub(r" DELETE INPUT;", ";", bare)
    return bare


OPTIONS: dict[str, st.SearchStrategy[OptionValue]] = {
    "channels": st.integers(-3, 300),
    "write": st.booleans(),
    "action": st.sampled_from(["backup", "validate", "restore_validate"]),
    "scope": st.sampled_from(["database", "tablespace", "pdb", "datafile", "archivelog"]),
    "of": st.lists(st.one_of(NAMES, st.sampled_from(["4", "17"]), st.text(max_size=12)), max_size=3).map(tuple),
    "compression": st.sampled_from(["none", "basic", "low", "medium", "high"]),
    "section_size": st.sampled_from(["512M", "4G", "1K", "0", "x"]),
    "files_per_set": st.integers(0, 64),
    "max_piece_size": st.sampled_from(["1024M", "2G"]),
    "rate": st.sampled_from(["50M", "1G"]),
    "incremental": st.integers(0, 1),
    "plus_archivelog": st.booleans(),
    "tag": st.one_of(st.sampled_from(["NIGHTLY", "x'y"]), st.text(max_size=40)),
    "format": st.one_of(st.just("/x/%U,/y/%d_%U"), st.text(max_size=40)),
    "destination": st.lists(st.one_of(FOLDERS, st.text(max_size=20)), max_size=3).map(tuple),
    "encryption": st.sampled_from(["none", "aes128", "aes256"]),
    "merge_copy": st.sampled_from(["NIGHTLY_COPY", "x'y"]),
    "cumulative": st.booleans(),
    "check_logical": st.booleans(),
    "max_open_files": st.integers(1, 64),
    "skip": st.lists(st.sampled_from(["readonly", "offline", "inaccessible", "x'y"]), max_size=2).map(tuple),
    "keep_days": st.integers(1, 400),
    "duration": st.sampled_from(["4h", "90m", "10s"]),
    "minimize": st.sampled_from(["load", "time"]),
    "logs_since": st.sampled_from(["7d", "1h"]),
    "logs_until": st.sampled_from(["2h", "5m"]),
    "not_backed_up": st.integers(1, 3),
    "delete_input": st.booleans(),
    "device": st.sampled_from(["disk", "sbt"]),
    "parms": st.one_of(st.just("SBT_LIBRARY=/lib/x.so,ENV=(A=b)"), st.text(max_size=30)),
    "connects": st.lists(
        st.one_of(st.just("/@inst1 as sysbackup"), st.just("scott/tiger@db"), st.text(max_size=20)), max_size=2
    ).map(tuple),
}


@given(options=st.fixed_dictionaries({}, optional=OPTIONS), mode=st.sampled_from(list(Mode)))
def test_whatever_is_asked_a_script_says_only_what_is_on_the_list(
    options: dict[str, OptionValue], mode: Mode
) -> None:
    asked = replace(work(OPERATION, 1, mode), options=options)
    try:
        order = order_of(asked)
    except ToolkitError as error:
        assert error.hint
        return
    [step] = steps([spell(order, REF)])
    bare = without_literals(step.text)
    assert FORBIDDEN.search(unless_asked(bare, options, mode)) is None, bare
    for command in commands_of(step.text):
        assert command.startswith(VERBS), command
        assert not command.startswith("RESTORE") or command.endswith(" VALIDATE")
    assert bare.count("ALLOCATE CHANNEL") == bare.count("RELEASE CHANNEL") == order.channels
    assert '"' not in step.text and "&" not in step.text and "?" not in step.text and "#" not in step.text
    if mode is Mode.MEASUREMENT:
        assert not re.search(r"INCREMENTAL|PLUS ARCHIVELOG|BACKUP AS", bare)
    if act_of(asked) is BackupAction.WRITE:
        assert f"TAG '{REF.name.name}'" in step.text and "NOEXCLUDE FORCE" in bare and "COPIES 1;" in bare
        assert all(
            REF.name.name in found or found.startswith("+") for found in re.findall(r"FORMAT '([^']*)'", step.text)
        )


@given(options=st.fixed_dictionaries({}, optional=OPTIONS), mode=st.sampled_from(list(Mode)))
def test_the_stand_in_understands_every_script_and_would_refuse_another_word(
    options: dict[str, OptionValue], mode: Mode
) -> None:
    try:
        order = order_of(replace(work(OPERATION, 1, mode), options=options))
    except ToolkitError:
        return
    [step] = steps([spell(order, REF)])
    for command in commands(step.text):
        if command.startswith("RUN"):
            for part in command.removeprefix("RUN {").removesuffix("}").split(";"):
                if part.strip():
                    Block(Session({})).parse(part.strip())
                    with pytest.raises(Failed):
                        Block(Session({})).parse(f"{part.strip()} NOSUCHWORD")


@for_each("name", sorted(PATTERNS))
def test_no_pattern_lets_a_quote_a_line_end_or_a_variable_through(name: str) -> None:
    for character in "'\"\n\r;&?\0`$(" if name not in {"rman_name", "rman_pdb_name"} else "'\"\n\r;&?\0`(":
        if name in {"rman_format", "rman_parms"} and character == "(":
            continue
        assert not fits(name, f"A{character}B"), (name, character)
    assert not fits(name, "") and not fits(name, "X" * 2000) and not fits(name, None)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_deletion_names_one_tag_and_nothing_else(mode: Mode) -> None:
    [by_tag] = steps([delete(REF)])
    assert commands_of(by_tag.text) == [
        "ALLOCATE CHANNEL dbatk1 DEVICE TYPE DISK",
        f"DELETE NOPROMPT BACKUPPIECE TAG '{REF.name.name}'",
        "RELEASE CHANNEL dbatk1",
    ]


def test_channels_take_their_folders_formats_and_connect_strings_in_turn() -> None:
    asked = work(OPERATION, 1, Mode.JOB, channels=3, format="/a/%U,/b/%U", connects=("/@i1", "/@i2"))
    [step] = steps([spell(order_of(asked), REF)])
    allocated = re.findall(r"CHANNEL (\w+) DEVICE TYPE DISK CONNECT '(\S+)' FORMAT '(\S+)'", step.text)
    assert allocated == [("dbatk1", "/@i1", "/a/%U"), ("dbatk2", "/@i2", "/b/%U"), ("dbatk3", "/@i1", "/a/%U")]


def test_a_connect_string_with_a_password_is_refused_without_being_repeated() -> None:
    with pytest.raises(ToolkitError) as caught:
        order_of(work(OPERATION, 1, Mode.JOB, channels=2, connects=("sys/s3cret@db as sysbackup",)))
    assert "s3cret" not in str(caught.value) and "s3cret" not in (caught.value.hint or "")
    assert "wallet" in (caught.value.hint or "")


REFUSED: list[tuple[dict[str, OptionValue], Mode, str]] = [
    ({"compression": "basic"}, Mode.MEASUREMENT, "validating does not compress"),
    ({"max_piece_size": "1G"}, Mode.MEASUREMENT, "validating writes no pieces"),
    ({"write": True, "destination": ("/b",), "incremental": 0}, Mode.MEASUREMENT, "parent of your next level 1"),
    ({"write": True, "destination": ("/b",), "plus_archivelog": True}, Mode.MEASUREMENT, "gap in recovery"),
    ({"write": True, "destination": ("/b",), "scope": "archivelog"}, Mode.MEASUREMENT, "gap in recovery"),
    ({"write": True}, Mode.MEASUREMENT, "needs its own folder"),
    ({"write": True, "destination": ("/b",), "tag": "MINE"}, Mode.MEASUREMENT, "sets its own tag"),
    ({"write": True, "destination": ("/b",), "format": "x_%U"}, Mode.MEASUREMENT, "names its pieces itself"),
    ({"write": True, "device": "sbt"}, Mode.MEASUREMENT, "on tape"),
    (
        {"section_size": "1G", "max_piece_size": "1G"},
        Mode.JOB,
        "SECTION SIZE cannot be combined with MAXPIECESIZE",
    ),
    ({"parms": "ENV=(A=b)"}, Mode.JOB, "not for disk"),
    ({"scope": "tablespace"}, Mode.JOB, "needs names"),
    ({"scope": "tablespace", "of": ('"Mixed"',)}, Mode.JOB, "cannot be used in dbatk's RMAN scripts"),
    ({"scope": "tablespace", "of": ("US'ERS",)}, Mode.JOB, "name"),
    ({"scope": "datafile", "of": ("/u01/x.dbf",)}, Mode.JOB, "is not a data file number"),
    ({"of": ("USERS",)}, Mode.JOB, "does not accept names"),
    ({"destination": ("/b/it's",)}, Mode.JOB, "cannot be used in dbatk's RMAN scripts"),
    ({"destination": ("?/dbs",)}, Mode.JOB, "cannot be used in dbatk's RMAN scripts"),
    ({"format": "/b/@_%U"}, Mode.JOB, "cannot be used in dbatk's RMAN scripts"),
    ({"channels": 0}, Mode.JOB, "are not possible"),
    ({"encryption": "aes256"}, Mode.MEASUREMENT, "validating does not encrypt"),
    ({"cumulative": True}, Mode.JOB, "CUMULATIVE is of level 1"),
    ({"check_logical": True, "action": "restore_validate"}, Mode.JOB, "read as they were written"),
    ({"skip": ("readonly",)}, Mode.MEASUREMENT, "`--skip` is for a job"),
    ({"keep_days": 365}, Mode.MEASUREMENT, "`--keep-days` is for a job"),
    ({"skip": ("it's",)}, Mode.JOB, "`--skip` cannot be"),
    ({"minimize": "load"}, Mode.JOB, "spreads a backup over a time"),
    ({"duration": "4h", "plus_archivelog": True}, Mode.JOB, "DURATION cannot be combined"),
    ({"keep_days": 365, "incremental": 1}, Mode.JOB, "a backup to keep is a full one"),
    ({"delete_input": True}, Mode.JOB, "deletes the archived logs that the job names"),
    ({"delete_input": True, "plus_archivelog": True}, Mode.JOB, "deletes the archived logs that the job names"),
    ({"logs_since": "1h"}, Mode.JOB, "choose archived logs"),
    ({"scope": "archivelog", "logs_since": "1h", "logs_until": "2h"}, Mode.JOB, "must be longer ago"),
    ({"scope": "archivelog", "check_logical": True}, Mode.JOB, "archived logs are not data files"),
    ({"format": "/b/full.bkp"}, Mode.JOB, "each backup set needs a name of its own"),
    ({"format": "/b/%d_%T_%p", "channels": 2}, Mode.JOB, "each backup set needs a name of its own"),
    ({"format": "/b/%d_%t_%p"}, Mode.JOB, "each backup set needs a name of its own"),
    ({"format": "/b/100%%U_%p"}, Mode.JOB, "each backup set needs a name of its own"),
    ({"format": "/b/%U,/c/fixed"}, Mode.JOB, "`--format /c/fixed` cannot name every piece"),
    ({"format": "/b/%d_%s", "max_piece_size": "1G"}, Mode.JOB, "a set has several pieces"),
    ({"format": "/b/%d_%u", "section_size": "1G"}, Mode.JOB, "a set has several pieces"),
]


@for_each(("options", "mode", "words"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_right_is_refused_with_a_sentence_and_a_hint(
    options: dict[str, OptionValue], mode: Mode, words: str
) -> None:
    with pytest.raises(ToolkitError) as caught:
        order_of(replace(work(OPERATION, 1, mode), options=options))
    assert words in caught.value.message
    assert caught.value.hint


@for_each(
    ("form", "size"),
    [("/b/%U", "1G"), ("/b/%s_%p", "1G"), ("/b/%u_%t_%p", "1G"), ("/b/%d_%s", None), ("+DATA", "1G")],
)
def test_a_format_that_names_every_piece_is_taken(form: str, size: str | None) -> None:
    assert order_of(work(OPERATION, 2, Mode.JOB, format=form, max_piece_size=size)).formats == (form,)


@pytest.mark.parametrize(
    ("release", "level", "fine"), [("11.2-ee", 1, False), ("11.2-ee", 0, True), ("19-ee", 1, True)]
)
def test_sections_of_an_incremental_backup_need_12c(release: str, level: int, fine: bool) -> None:
    asked = work(OPERATION, 2, Mode.JOB, incremental=level, section_size="1G", destination=("/b",))
    support = DIALECT.work.support(asked, assumed(release))
    assert support.ok is fine and (fine or "needs 12.1" in support.sentence)


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_the_licence_firewall_sees_the_compression_of_a_script(level: str) -> None:
    asked = work(OPERATION, 1, write=True, destination=("/b",), compression=level)
    [step] = steps([spell(order_of(asked), REF)])
    assert {use.licence for use in look(step.text).uses} == {"advanced_compression"}
    [basic] = steps([spell(replace(order_of(asked), compression="basic"), REF)])
    assert look(basic.text).uses == ()


def test_a_command_id_fits_into_its_column() -> None:
    assert len(command_id("X" * 60)) == 32


@for_each("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_has_a_whole_header_and_says_where_its_forms_are_written(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    assert list(header)[:6] == ["Title", "Needs", "License", "Effect", "Params", "Versions"]
    sources = [line for line in lines if line.startswith("# Source: ")]
    assert sources and all(re.search(r"RMAN Reference|\blog\b", line) for line in sources)
    values = [part.split("}}")[0] for line in lines if not line.startswith("#") for part in line.split("{{")[1:]]
    assert [value for value in values if "|" not in value] == []


def spelled(**options: OptionValue) -> str:
    """Return the BACKUP command of a job on one line."""
    [step] = steps([spell(order_of(work(OPERATION, 1, Mode.JOB, **options)), REF)])
    return next(command for command in commands_of(step.text) if command.startswith("BACKUP"))


def test_a_job_says_what_it_was_asked_for_in_words_of_rman() -> None:
    assert spelled(incremental=1, cumulative=True).startswith("BACKUP INCREMENTAL LEVEL 1 CUMULATIVE AS BACKUPSET")
    assert spelled(check_logical=True, skip=("offline", "readonly")).endswith(
        "CHECK LOGICAL DATABASE SKIP OFFLINE SKIP READONLY"
    )
    assert "KEEP UNTIL TIME 'SYSDATE+365' DATABASE" in spelled(keep_days=365, destination=("/keep",))
    assert "DURATION 4:30 MINIMIZE LOAD DATABASE" in spelled(duration="4h30m", minimize="load")


def test_archived_logs_are_chosen_by_time_and_deleted_only_where_the_job_says_so() -> None:
    assert spelled(scope="archivelog", logs_since="1d").endswith("ARCHIVELOG FROM TIME 'SYSDATE-1440/1440'")
    assert spelled(scope="archivelog", logs_until="1h", not_backed_up=2, delete_input=True).endswith(
        "ARCHIVELOG UNTIL TIME 'SYSDATE-60/1440' NOT BACKED UP 2 TIMES DELETE INPUT"
    )
    assert spelled(scope="archivelog", logs_since="1d", logs_until="1h").endswith(
        "ARCHIVELOG TIME BETWEEN 'SYSDATE-1440/1440' AND 'SYSDATE-60/1440'"
    )
    assert "DELETE" not in spelled(scope="archivelog")


def test_archived_logs_have_no_level() -> None:
    assert spelled(scope="archivelog") == "BACKUP AS BACKUPSET ARCHIVELOG ALL"
    assert spelled(scope="archivelog", compression="basic") == "BACKUP AS COMPRESSED BACKUPSET ARCHIVELOG ALL"
    assert spelled(plus_archivelog=True) == "BACKUP FULL AS BACKUPSET DATABASE PLUS ARCHIVELOG"


def test_logical_checks_and_open_files_can_be_measured() -> None:
    [step] = steps([spell(order_of(work(OPERATION, 2, check_logical=True, max_open_files=4)), REF)])
    assert "BACKUP VALIDATE AS BACKUPSET NOEXCLUDE FORCE CHECK LOGICAL DATABASE" in commands_of(step.text)
    assert step.text.count("MAXOPENFILES 4") == 2


def test_logs_that_cannot_be_shown_are_not_deleted() -> None:
    asked = work(OPERATION, 1, Mode.JOB, scope="archivelog", delete_input=True, destination=("/b",))
    facts = replace(assumed(), assumed=False)
    found = DIALECT.work.support(asked, facts)
    assert not found.ok and "GRANT SELECT ON SYS.V_$ARCHIVED_LOG" in found.sentence


def test_a_backup_to_keep_does_not_go_to_the_recovery_area() -> None:
    facts = assumed(backup_recovery_area=({"place": "/fra", "limit_bytes": 1, "used_bytes": 0},))
    assert (
        "cannot be written to the recovery area"
        in DIALECT.work.support(work(OPERATION, 1, Mode.JOB, keep_days=30), facts).sentence
    )
    assert DIALECT.work.support(work(OPERATION, 1, Mode.JOB, keep_days=30, destination=("/b",)), facts).ok


def test_where_pieces_go_is_said_where_nobody_named_it_and_it_could_not_be_asked() -> None:
    job, elsewhere = work(OPERATION, 1, Mode.JOB), work(OPERATION, 1, Mode.JOB, destination=("/b",))
    unread = assumed()
    asked = replace(assumed(backup_recovery_area=({"place": "/fra"},)), assumed=False)
    said = [
        "ORACLE_HOME/dbs" in " ".join(remarks(each, facts))
        for each, facts in (
            (job, unread),
            (job, replace(unread, assumed=False)),
            (job, asked),
            (elsewhere, unread),
        )
    ]
    assert said == [True, True, False, False]


def test_channels_of_other_nodes_need_a_folder_that_all_nodes_share() -> None:
    nodes = {"connects": ("/@rac1", "/@rac2"), "write": True}
    said = [
        "all nodes share"
        in " ".join(remarks(work(OPERATION, 2, Mode.MEASUREMENT, destination=(place,), **more), assumed()))
        for place, more in (("/b", nodes), ("+DATA", nodes), ("/b", {"write": True}))
    ]
    assert said == [True, False, False]


def test_encryption_needs_its_licence_and_the_firewall_sees_it() -> None:
    asked = work(OPERATION, 1, Mode.JOB, encryption="aes256", destination=("/b",))
    [step] = steps([spell(order_of(asked), REF)])
    assert step.text.startswith(
        "SET ENCRYPTION ALGORITHM 'AES256';\nSET ENCRYPTION ON FOR ALL TABLESPACES;\nRUN {"
    )
    assert {use.licence for use in look(step.text).uses} == {"advanced_security"}
    found = DIALECT.work.support(asked, assumed())
    assert not found.ok and "needs the Advanced Security option" in found.sentence
    assert DIALECT.work.support(asked, assumed(licences=({"licence": "advanced_security"},))).ok
