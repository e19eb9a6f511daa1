"""A program that behaves like RMAN's client: it understands the scripts we emit and nothing else.

It reads commands from its standard input, writes a log in the wording of RMAN in real time with its channels
interleaved, makes and deletes real files as pieces, and keeps in `state.json` what a control file would keep;
`scenario.json` beside it says what it is and what goes wrong. Standard library only: it runs as a program.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

NAME, DBID = "FREE", 1405
FOLDER = Path(os.environ.get("RMAN_STANDIN", "."))
MSGNO = "msgno" in sys.argv
_NUMBERS = {
    "connected to target": "06005", "allocated channel": "08030", "released channel": "08031", "Starting": "03090",
    "Finished": "03091", "piece handle": "08530", "input datafile": "08522", "channel": "08500",
    "executing": "03023", "deleted": "08073", "using target": "06009",
}  # fmt: skip
_SIZE = r"\d+[KMG]?"
_TEXT = r"'[^'\n]*'"
_NAME = rf"(?:{_TEXT}|[A-Z0-9_$#:]+)"
_WHAT = (
    r"(?P<what>(?P<of>TABLESPACE|PLUGGABLE DATABASE|DATAFILE)|DATABASE"
    r"|ARCHIVELOG (?:ALL|(?:FROM|UNTIL) TIME 'SYSDATE-\d+/1440'"
    r"|TIME BETWEEN 'SYSDATE-\d+/1440' AND 'SYSDATE-\d+/1440'))"
    rf"(?P<names>(?(of) {_NAME}(?:, ?{_NAME})*|))"
)
_BACKUP = re.compile(
    r"BACKUP(?: (?P<head>VALIDATE|(?P<level>FULL|INCREMENTAL LEVEL 1 CUMULATIVE|INCREMENTAL LEVEL [01])))?"
    r" AS (?P<type>COMPRESSED BACKUPSET|BACKUPSET)"
    rf"(?: TAG (?P<tag>{_TEXT}))?(?P<force> NOEXCLUDE FORCE)?(?: SECTION SIZE (?P<section>{_SIZE}))?"
    r"(?: FILESPERSET (?P<per_set>\d+))?(?P<logical> CHECK LOGICAL)?(?: KEEP UNTIL TIME 'SYSDATE\+(?P<keep>\d+)')?"
    rf"(?: DURATION (?P<duration>\d+:[0-5]\d))?(?: MINIMIZE (?:LOAD|TIME))? "
    rf"(?(level)(?!ARCHIVELOG)|(?(head)|(?=ARCHIVELOG))){_WHAT}"
    r"(?: SKIP (?:READONLY|OFFLINE|INACCESSIBLE))*(?: NOT BACKED UP \d+ TIMES)?(?P<delete> DELETE INPUT)?"
    r"(?P<plus> PLUS ARCHIVELOG)?"
)
_RECOVER_COPY = re.compile(rf"RECOVER COPY OF {_WHAT} WITH TAG (?P<tag>{_TEXT})")
_MERGING = re.compile(
    rf"BACKUP INCREMENTAL LEVEL 1 FOR RECOVER OF COPY WITH TAG (?P<tag>{_TEXT})(?P<logical> CHECK LOGICAL)?"
    rf"(?: DURATION (?P<duration>\d+:[0-5]\d))?(?: MINIMIZE (?:LOAD|TIME))? {_WHAT}"
    r"(?: SKIP (?:READONLY|OFFLINE|INACCESSIBLE))*(?P<plus> PLUS ARCHIVELOG)?"
)
_VALIDATE = re.compile(rf"VALIDATE(?: SECTION SIZE (?P<section>{_SIZE}))? {_WHAT}")
_RESTORE = re.compile(rf"RESTORE {_WHAT} VALIDATE")
_ALLOCATE = re.compile(
    rf"ALLOCATE CHANNEL (?P<name>\w+) DEVICE TYPE (?P<device>DISK|SBT)(?: CONNECT (?P<connect>{_TEXT}))?"
    rf"(?: FORMAT (?P<format>{_TEXT}))?(?: MAXPIECESIZE (?P<piece>{_SIZE}))?(?: RATE (?P<rate>{_SIZE}))?"
    rf"(?: MAXOPENFILES (?P<open>\d+))?(?: PARMS (?P<parms>{_TEXT}))?"
)
_DELETE = re.compile(rf"DELETE NOPROMPT BACKUPPIECE (?:TAG (?P<tag>{_TEXT})|(?P<handle>{_TEXT}))")
_SET = re.compile(rf"SET (?:COMMAND ID TO (?P<id>{_TEXT})|BACKUP COPIES (?P<copies>\d+))")
_OUTSIDE = re.compile(
    r"SET (?:COMPRESSION ALGORITHM '(?P<name>BASIC|LOW|MEDIUM|HIGH)'|ENCRYPTION ALGORITHM 'AES(?:128|192|256)'"
    r"|ENCRYPTION ON FOR ALL TABLESPACES)"
)
_CATALOG = re.compile(r"CONNECT CATALOG '/@(\w+)'")
_POLICY = r"(?P<policy> REDUNDANCY \d+| RECOVERY WINDOW OF \d+ DAYS)?"
_ASKED = re.compile(
    r"(?P<cross>CROSSCHECK (?:BACKUP|COPY|ARCHIVELOG ALL))|(?P<list>LIST EXPIRED (?:BACKUP|COPY|ARCHIVELOG ALL))"
    rf"|REPORT (?P<report>(?P<by>NEED BACKUP|OBSOLETE){_POLICY}|UNRECOVERABLE|SCHEMA)"
)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


class Failed(Exception):
    """An error stack."""


def scenario() -> dict:
    path = FOLDER / "scenario.json"
    return json.loads(path.read_text()) if path.exists() else {}


def state() -> dict:
    path = FOLDER / "state.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    return {"pieces": [], "status": [], "channels": [], "calls": [], "next": 1, **kept}


def keep(changed: dict) -> None:
    path = FOLDER / "state.json"
    new = path.with_suffix(".new")
    new.write_text(json.dumps(changed))
    new.replace(path)


def say(text: str = "") -> None:
    number = next((number for words, number in _NUMBERS.items() if text.startswith(words)), None)
    print(f"RMAN-{number}: {text}" if MSGNO and number else text, flush=True)


def now() -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S")


def bytes_of(size: str | None) -> int | None:
    if size is None:
        return None
    unit = size[-1] if size[-1] in "KMG" else ""
    return int(size.removesuffix(unit)) * _UNITS[unit]


def stack(*lines: str) -> None:
    print("RMAN-00571: ===========================================================")
    print("RMAN-00569: =============== ERROR MESSAGE STACK FOLLOWS ===============")
    print("RMAN-00571: ===========================================================")
    for line in lines:
        print(line)
    sys.stdout.flush()


class Session:
    """One run of the client."""

    def __init__(self, told: dict) -> None:
        self.told = told
        self.connected = False
        self.algorithm = "BASIC"
        self.failed = False
        self.command_id = ""

    def command(self, text: str) -> None:
        """Run one command of the prompt; after an error the next one is read all the same."""
        try:
            self._command(text)
        except Failed as error:
            self.failed = True
            stack(*error.args)

    def _command(self, text: str) -> None:
        if text.startswith("CONNECT TARGET "):
            self._connect(text)
        elif (found := _OUTSIDE.fullmatch(text)) is not None:
            say(f"executing command: SET {'compression algorithm' if found['name'] else 'encryption'}")
            self.algorithm = found["name"] or self.algorithm
        elif (found := re.fullmatch(r"RUN \{(.*)\}", text)) is not None:
            self._block(found[1])
        elif (found := _CATALOG.fullmatch(text)) is not None:
            self._catalog(found[1])
        elif (found := _ASKED.fullmatch(text)) is not None:
            self._asked(found)
        else:
            raise syntax(text)

    def _connect(self, text: str) -> None:
        if re.fullmatch(r'CONNECT TARGET (?:/|"[^"]+")', text) is None:
            raise syntax(text)
        if self.told.get("cannot_connect"):
            raise Failed(
                "RMAN-00554: initialization of internal recovery manager package failed",
                "RMAN-04005: error from target database:",
                "ORA-01017: invalid username/password; logon denied",
            )
        self.connected = True
        say(f"connected to target database: {NAME} (DBID={self.told.get('dbid', DBID)})")

    def _catalog(self, alias: str) -> None:
        if "nocatalog" in sys.argv:
            raise Failed("RMAN-06445: cannot connect to recovery catalog after NOCATALOG has been used")
        if self.told.get("no_catalog"):
            raise Failed("RMAN-04004: error from recovery catalog database: ORA-12154: cannot resolve alias")
        changed = state()
        changed["catalogs"] = [*changed.get("catalogs", []), alias]
        keep(changed)
        print("connected to recovery catalog database", flush=True)

    def _asked(self, found: re.Match) -> None:
        """Answer CROSSCHECK, REPORT and LIST EXPIRED from the pieces that were written and the scenario."""
        if not self.connected:
            raise Failed("RMAN-06171: not connected to target database")
        if found["policy"] is None and found["by"] and self.told.get("retention_none"):
            raise Failed(
                f"RMAN-03002: failure of report command at {now()}",
                "RMAN-06525: RMAN retention policy is set to none",
            )
        if found["cross"]:
            self._crosscheck()
        elif found["list"]:
            self._expired()
        else:
            for line in self.told.get("reports", {}).get(found["report"].split(" RE", 1)[0], ()):
                print(line, flush=True)

    def _crosscheck(self) -> None:
        changed = state()
        for number, piece in enumerate(changed["pieces"], start=1):
            piece["expired"] = not Path(piece["handle"]).exists()
            print(f"crosschecked backup piece: found to be '{'EXPIRED' if piece['expired'] else 'AVAILABLE'}'")
            print(f"backup piece handle={piece['handle']} RECID={number} STAMP={number}")
        print(f"Crosschecked {len(changed['pieces'])} objects", flush=True)
        keep(changed)

    def _expired(self) -> None:
        gone = [(n, one) for n, one in enumerate(state()["pieces"], start=1) if one.get("expired")]
        if not gone:
            print("specification does not match any backup in the repository", flush=True)
        for number, piece in gone:
            print(f"\nList of Backup Pieces\n        BP Key: {number}   Status: EXPIRED  Compressed: NO  Tag: X")
            print(f"        Piece Name: {piece['handle']}", flush=True)

    def _block(self, body: str) -> None:
        parts = [part.strip() for part in body.split(";") if part.strip()]
        block = Block(self)
        known = [block.parse(part) for part in parts]
        if not self.connected:
            raise Failed(
                f"RMAN-03002: failure of allocate command at {now()}",
                "RMAN-06171: not connected to target database",
            )
        try:
            for run in known:
                run()
        finally:
            block.release_all()


def syntax(text: str) -> Failed:
    return Failed(
        "RMAN-00558: error encountered while parsing input commands",
        f'RMAN-01009: syntax error: found "identifier": expecting one of: "allocate, backup" in {text[:60]!r}',
        "RMAN-01007: at line 1 column 1 file: standard input",
    )


class Block:
    """A RUN block: its channels live as long as it does."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.told = session.told
        self.channels: list[dict] = []

    def parse(self, text: str):
        for pattern, run in (
            (_SET, self._set),
            (_ALLOCATE, self._allocate),
            (re.compile(r"RELEASE CHANNEL (?P<name>\w+)"), self._release),
            (_BACKUP, self._backup),
            (_RECOVER_COPY, self._recover_copy),
            (_MERGING, self._merging),
            (_VALIDATE, self._validate),
            (_RESTORE, self._restore),
            (_DELETE, self._delete),
        ):
            found = pattern.fullmatch(text)
            if found is not None:
                return lambda: run(found)
        raise syntax(text)

    # -- around the work ----------------------------------------------------------------------------------------
    def _set(self, found: re.Match) -> None:
        if found["id"]:
            self.session.command_id = found["id"].strip("'")
            say("executing command: SET COMMAND ID")
        else:
            say("executing command: SET BACKUP COPIES")

    def _allocate(self, found: re.Match) -> None:
        self.channels.append(found.groupdict() | {"free_at": 0.0})
        say(f"allocated channel: {found['name']}")
        say(f"channel {found['name']}: SID={200 + len(self.channels)} device type={found['device']}")
        changed = state()
        changed["channels"].append(
            {
                "sid": 200 + len(self.channels),
                "pid": os.getpid(),
                "info": f"id={self.session.command_id},rman channel={found['name']}",
            }
        )
        keep(changed)

    def _release(self, found: re.Match) -> None:
        self._gone(found["name"])

    def _gone(self, name: str) -> None:
        left = [each for each in self.channels if each["name"] != name]
        if len(left) < len(self.channels):
            self.channels = left
            say(f"released channel: {name}")
            if not self.told.get("channels_stay"):
                changed = state()
                changed["channels"] = [
                    each for each in changed["channels"] if not each["info"].endswith(f"={name}")
                ]
                keep(changed)

    def release_all(self) -> None:
        for channel in list(self.channels):
            self._gone(channel["name"])

    # -- the work -----------------------------------------------------------------------------------------------
    def _files(self, found: re.Match) -> list[dict]:
        files = self.told.get("files") or [{"number": 7, "name": "/u01/oradata/FREE/users01.dbf", "bytes": 2**20}]
        if found["what"] == "DATAFILE":
            wanted = {int(each) for each in re.findall(r"\d+", found["names"])}
            return [each for each in files if each["number"] in wanted]
        return files

    def _backup(self, found: re.Match) -> None:
        if found["section"] and any(channel["piece"] for channel in self.channels):
            raise Failed(
                f"RMAN-03002: failure of backup command at {now()}",
                "RMAN-06558: SECTION SIZE may not be used with MAXPIECESIZE",
            )
        writes = found["head"] != "VALIDATE"
        if writes and self.told.get("noarchivelog"):
            raise Failed(
                f"RMAN-03002: failure of backup command at {now()}",
                "RMAN-06149: cannot BACKUP DATABASE in NOARCHIVELOG mode",
            )
        per_set = int(found["per_set"] or 64)
        say(f"Starting backup at {now()}")
        if self.told.get("edition") == "se2" and len(self.channels) > 1:
            print("RMAN-06908: warning: operation will not run in parallel on the allocated channels")
            print("RMAN-06909: warning: parallelism require Enterprise Edition", flush=True)
        level = (found["level"] or "FULL").lower()
        kind = ("compressed " if found["type"].startswith("COMP") else "") + level
        work = sets_of(self._files(found), per_set, len(self.channels), bytes_of(found["section"]))
        self._work(
            "backup",
            kind,
            work,
            tag=(found["tag"] or "'TAG20261121T000000'").strip("'"),
            writes=writes,
            compressed=found["type"].startswith("COMP"),
            keeps=found["keep"] is not None,
        )
        if found["delete"]:
            self._delete_logs()
        say(f"Finished backup at {now()}")

    def _recover_copy(self, found: re.Match) -> None:
        """Merge the incremental backups of a tag into its copies; without copies there is only a message."""
        tag = found["tag"].strip("'").upper()
        changed = state()
        copies = changed.setdefault("merge_copies", {}).get(tag, [])
        say(f"Starting recover at {now()}")
        for file in self._files(found):
            if file["number"] not in copies:
                say(f"no copy of datafile {file['number']} found to recover")
        if copies:
            changed["merged"] = changed.get("merged", 0) + sum(
                piece["tag"] == tag and not piece["deleted"] for piece in changed["pieces"]
            )
            keep(changed)
        say(f"Finished recover at {now()}")

    def _merging(self, found: re.Match) -> None:
        """Make copies where there are none with the tag, else an incremental backup for them."""
        tag = found["tag"].strip("'").upper()
        changed, files = state(), self._files(found)
        say(f"Starting backup at {now()}")
        if tag in changed.setdefault("merge_copies", {}):
            work = sets_of(files, 64, len(self.channels), None)
            self._work("backup", "incremental level 1", work, tag=tag, writes=True)
        else:
            for file in files:
                say(f"no parent backup or copy of datafile {file['number']} found")
                say(f"channel {self.channels[0]['name']}: starting datafile copy")
                say(f"input datafile file number={file['number']:05d} name={file['name']}")
                handle = self._create(self.channels[0], compressed=False)
                Path(handle).write_bytes(b"copy")
                say(f"output file name={handle} tag={tag} RECID=1 STAMP=1")
                say(f"channel {self.channels[0]['name']}: datafile copy complete, elapsed time: 00:00:01")
            changed = state()
            changed.setdefault("merge_copies", {})[tag] = [file["number"] for file in files]
            keep(changed)
            self._note("backup", sum(file["bytes"] for file in files), writes=True, compressed=False, seconds=1.0)
        say(f"Finished backup at {now()}")

    def _delete_logs(self) -> None:
        """Delete the archived logs that were backed up: real files, named by the scenario."""
        for number, log in enumerate(self.told.get("logs", []), start=1):
            say(f"channel {self.channels[0]['name']}: deleting archived log(s)")
            print(f"archived log file name={log} RECID={number} STAMP={number}", flush=True)
            Path(log).unlink()

    def _validate(self, found: re.Match) -> None:
        say(f"Starting validate at {now()}")
        work = sets_of(self._files(found), 4, len(self.channels), bytes_of(found["section"]))
        self._work("validate", "", work, writes=False)
        say(f"Finished validate at {now()}")

    def _restore(self, found: re.Match) -> None:
        there = [piece for piece in state()["pieces"] if not piece["deleted"]]
        if not there:
            raise Failed(
                f"RMAN-03002: failure of restore command at {now()}",
                "RMAN-06026: some targets not found - aborting restore",
                "RMAN-06023: no backup or copy of datafile 7 found to restore",
            )
        say(f"Starting restore at {now()}")
        for piece in there:
            name = self.channels[0]["name"]
            say(f"channel {name}: starting validation of datafile backup set")
            say(f"channel {name}: reading from backup piece {piece['handle']}")
            say(f"channel {name}: piece handle={piece['handle']} tag={piece['tag']}")
            say(f"channel {name}: restored backup piece 1")
            say(f"channel {name}: validation complete, elapsed time: 00:00:01")
        say(f"Finished restore at {now()}")

    def _work(
        self,
        op: str,
        kind: str,
        work: list[dict],
        *,
        writes: bool,
        tag: str = "",
        compressed: bool = False,
        keeps: bool = False,
    ) -> None:
        """Let the channels take sets in turn; every line is written at its instant."""
        begun = time.monotonic()
        speed = float(self.told.get("bytes_per_second", 2**30))
        degree_limit = float(self.told.get("most_bytes_per_second", 2**40))
        channels = self.channels[:1] if self.told.get("edition") == "se2" else list(self.channels)
        rate = min(
            [
                speed,
                degree_limit / max(1, len(channels)),
                *[bytes_of(channel["rate"]) for channel in channels if channel["rate"]],
            ]
        )
        queue, busy, total = list(work), {}, 0
        while queue or busy:
            for channel in channels:
                if channel["name"] not in busy and queue:
                    busy[channel["name"]] = self._begin(
                        op, kind, channel, queue.pop(0), writes, tag, rate, compressed
                    )
            self._working(work, queue, busy)
            self._hang()
            name = min(busy, key=lambda each: busy[each]["ends"])
            wait = busy[name]["ends"] - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            done = busy.pop(name)
            if name in self.told.get("fail_channels", []) or self.told.get("fail_all"):
                channels = self._fail(op, name, channels, done, queue)
                continue
            total += done["bytes"]
            self._end(op, name, done, writes, tag, compressed, keeps)
        self._note(op, total, writes, compressed, time.monotonic() - begun)

    def _begin(
        self, op: str, kind: str, channel: dict, what: dict, writes: bool, tag: str, rate: float, compressed: bool
    ) -> dict:
        name = channel["name"]
        if op == "validate":
            say(f"channel {name}: starting validation of datafile")
        else:
            say(f"channel {name}: starting {kind} datafile backup set")
        say(f"channel {name}: specifying datafile(s) {'for validation' if op == 'validate' else 'in backup set'}")
        for file in what["files"]:
            say(f"input datafile file number={file['number']:05d} name={file['name']}")
        if what.get("section"):
            first, last = what["section"]
            say(f"backing up blocks {first} through {last}")
        handle = None
        if writes:
            handle = self._create(channel, compressed)
            say(f"channel {name}: starting piece {what.get('piece', 1)} at {now()}")
        slow = 2.0 if compressed else 1.0
        return {
            "ends": time.monotonic() + what["bytes"] * slow / rate,
            "bytes": what["bytes"],
            "handle": handle,
            "begun": time.monotonic(),
            "what": what,
        }

    def _create(self, channel: dict, compressed: bool) -> str:
        changed = state()
        unique = changed["next"]
        changed["next"] += 1
        keep(changed)
        pattern = (channel["format"] or f"'{self.told.get('area', str(FOLDER))}/%U'").strip("'")
        handle = pattern.replace("%U", f"{unique:02x}aabbcc_{unique}_1").replace("%d", NAME)
        try:
            Path(handle).write_bytes(b"half")
        except OSError as error:
            raise Failed(
                f"RMAN-03009: failure of backup command on {channel['name']} channel at {now()}",
                f'ORA-19504: failed to create file "{handle}"',
                "ORA-27040: file create error, unable to create file",
                f"Linux-x86_64 Error: {error.errno}: {error.strerror}",
            ) from None
        return handle

    def _end(self, op: str, name: str, done: dict, writes: bool, tag: str, compressed: bool, keeps: bool) -> None:
        elapsed = time.strftime("%H:%M:%S", time.gmtime(time.monotonic() - done["begun"]))
        if writes:
            stubborn = {each["number"] for each in done["what"]["files"]} & set(self.told.get("stubborn", []))
            ratio = 4 if compressed and not stubborn else 1
            size = max(1, done["bytes"] // ratio)
            Path(done["handle"]).write_bytes(b"whole")
            say(f"channel {name}: finished piece {done['what'].get('piece', 1)} at {now()}")
            say(f"piece handle={done['handle']} tag={tag.upper()} comment=NONE")
            changed = state()
            changed["pieces"].append(
                {
                    "handle": done["handle"],
                    "tag": tag.upper(),
                    "bytes": size,
                    "deleted": False,
                    "compressed": "YES" if compressed else "NO",
                    "keep": keeps,
                    "command_id": self.session.command_id,
                    "input": done["bytes"],
                    "seconds": time.monotonic() - done["begun"],
                }
            )
            keep(changed)
        ending = "validation complete" if op == "validate" else "backup set complete"
        say(f"channel {name}: {ending}, elapsed time: {elapsed}")

    def _fail(self, op: str, name: str, channels: list[dict], done: dict, queue: list[dict]) -> list[dict]:
        lines = (
            f"RMAN-03009: failure of {op} command on {name} channel at {now()}",
            *self.told.get("fail_lines", ["ORA-19502: write error on file", "ORA-27072: File I/O error"]),
        )
        left = [each for each in channels if each["name"] != name]
        if done["handle"]:
            Path(done["handle"]).unlink(missing_ok=True)
        if not left or self.told.get("fail_all"):
            raise Failed(*lines)
        for line in lines:
            print(line)
        say(f"channel {name} disabled, job failed on it will be run on another channel")
        queue.append(done["what"])
        return left

    def _working(self, work: list[dict], queue: list[dict], busy: dict[str, dict]) -> None:
        """Keep what V$SESSION_LONGOPS shows: the command's bytes, and the sets at work by number of channel."""
        numbers = {channel["name"]: number for number, channel in enumerate(self.channels, start=1)}
        total = sum(each["bytes"] for each in work)
        left = sum(each["bytes"] for each in [*queue, *busy.values()])
        changed = state()
        begun = next((each["begun"] for each in changed.get("working", [])), time.time())
        sets = {numbers[name]: each["bytes"] for name, each in busy.items()}
        changed["working"] = [{"begun": begun, "total": total, "done": total - left, "sets": sets}]
        keep(changed)

    def _hang(self) -> None:
        if self.told.get("hang"):
            (FOLDER / "hanging.new").write_text(str(os.getpid()))
            (FOLDER / "hanging.new").replace(FOLDER / "hanging")
            while True:
                time.sleep(0.05)

    def _note(self, op: str, total: int, writes: bool, compressed: bool, seconds: float) -> None:
        changed = state()
        changed["working"] = []
        written = total // (4 if compressed else 1) if writes else 0
        changed["status"].append(
            {
                "command_id": self.session.command_id,
                "operation": op.upper(),
                "input": total,
                "output": written,
                "seconds": seconds,
            }
        )
        if self.told.get("configures"):
            changed["configuration"] = [["COMPRESSION ALGORITHM", "'HIGH'"]]
        keep(changed)

    def _delete(self, found: re.Match) -> None:
        tag, handle = (None if each is None else each.strip("'") for each in (found["tag"], found["handle"]))
        say("using target database control file instead of recovery catalog")
        changed = state()
        chosen = [
            piece
            for piece in changed["pieces"]
            if not piece["deleted"] and ((tag and piece["tag"] == tag.upper()) or piece["handle"] == handle)
        ]
        if self.told.get("cannot_delete"):
            raise Failed(
                f"RMAN-03002: failure of delete command at {now()}",
                "RMAN-03014: implicit resync of recovery catalog failed",
            )
        if not chosen:
            say("specification does not match any backup in the repository")
        for piece in chosen:
            Path(piece["handle"]).unlink(missing_ok=True)
            piece["deleted"] = True
            say("deleted backup piece")
            print(f"backup piece handle={piece['handle']} RECID=1 STAMP=1")
        keep(changed)
        print(f"Deleted {len(chosen)} objects\n", flush=True)


def sets_of(files: list[dict], per_set: int, channels: int, section: int | None) -> list[dict]:
    """Divide files into sets, as RMAN does: at most files/channels in each, or sections of one file."""
    if section:
        found = []
        for file in files:
            parts = max(1, -(-file["bytes"] // section))
            blocks = file["bytes"] // 8192 // parts or 1
            found += [
                {
                    "files": [file],
                    "bytes": file["bytes"] // parts,
                    "piece": n + 1,
                    "section": (n * blocks + 1, (n + 1) * blocks),
                }
                for n in range(parts)
            ]
        return found
    most = max(1, min(per_set, -(-len(files) // max(1, channels))))
    return [
        {"files": files[at : at + most], "bytes": sum(each["bytes"] for each in files[at : at + most])}
        for at in range(0, len(files), most)
    ]


def commands(text: str) -> list[str]:
    """Divide what was typed into commands: CONNECT ends with its line, the others with `;`, RUN with its brace."""
    found, rest = [], text
    while rest := rest.strip():
        if rest.startswith("CONNECT"):
            command, _, rest = rest.partition("\n")
            command = command.removesuffix(";")
        elif rest.startswith("RUN"):
            command, brace, rest = rest.partition("}")
            command += brace
        else:
            command, _, rest = rest.partition(";")
        found.append(" ".join(command.split()))
    return found


def main() -> int:
    told = scenario()
    changed = state()
    changed["calls"].append(sys.argv[1:])
    keep(changed)
    if told.get("ignores_signals"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    print("\nRecovery Manager: Release 19.0.0.0.0 - Production on Sat Nov 21 21:00:00 2026\nVersion 19.3.0.0.0\n")
    print("Copyright (c) 1982, 2019, Oracle and/or its affiliates.  All rights reserved.\n", flush=True)
    session, text = Session(told), sys.stdin.read()
    if "checksyntax" in sys.argv:
        session.connected = False
        return check(text)
    for command in commands(text):
        print("RMAN> ", end="", flush=True)
        print()
        session.command(command)
    print("\nRMAN> \n\nRecovery Manager complete.", flush=True)
    return 1 if session.failed else 0


def check(text: str) -> int:
    """Parse and run nothing."""
    for command in commands(text):
        try:
            if command.startswith("RUN"):
                block = Block(Session({}))
                body = re.fullmatch(r"RUN \{(.*)\}", command)
                for part in [each.strip() for each in (body[1] if body else command).split(";") if each.strip()]:
                    block.parse(part)
            elif not any(each.fullmatch(command) for each in (_OUTSIDE, _ASKED, _CATALOG)):
                raise syntax(command)
        except Failed as error:
            stack(*error.args)
            return 1
        print("The command has no syntax errors", flush=True)
    print("\nRecovery Manager complete.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
