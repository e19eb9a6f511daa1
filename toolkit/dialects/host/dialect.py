"""The host itself as an engine: it has no tables; what is asked of it is which host it is."""

from __future__ import annotations

import re

from toolkit.dialects.host.work import WORK
from toolkit.dialects.names import bad_name, split_name
from toolkit.dialects.quiet import Quiet
from toolkit.model.facts import Facts, Release
from toolkit.model.values import QualifiedName, Row, Scalar

_PLAIN = re.compile(r"\w+")
_LONGEST = 255


class HostDialect(Quiet):
    """Names and versions of a host."""

    engine = "host"
    work = WORK

    def quote(self, name: str) -> str:
        if not name or "\0" in name:
            raise bad_name(name.replace("\0", "\\0"), "it is empty or contains a NUL character")
        return '"' + name.replace('"', '""') + '"'

    def literal(self, value: Scalar) -> str:
        return repr(value)

    def parse_name(self, text: str, release: Release | None = None) -> QualifiedName:
        del release
        return split_name(text, str, _PLAIN, _LONGEST)

    def release(self, server: Row) -> Release:
        text = str(server.get("version_text") or "")
        return Release(tuple(int(part) for part in re.findall(r"\d+", text)[:2]), "", text)

    def assume(self, text: str) -> Facts:
        return Facts(self.engine, self.release({"version_text": text}), assumed=True)


DIALECT = HostDialect()
