"""Who is on the other end: a rogue PostgreSQL server gets no password, TLS verifies the right one."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.for_each import for_each
from tests.servers.fixtures import missing
from tests.servers.postgresql import Server, begun_from, installed, unprivileged
from toolkit.app.approvals import Approvals, TargetPolicy, exposed
from toolkit.config.urls import parse_url
from toolkit.errors import ToolkitError
from toolkit.model.words import Role
from toolkit.store import open_store
from toolkit.targets.base import Access, SessionTag
from toolkit.targets.postgresql import PostgresqlTarget

TAG = SessionTag("20261122-000000-0000")
SECRET = "canary-pa55word"
NAME = "db.example"
_NO_TLS = {80877103, 80877104}
Options = tuple[tuple[str, str], ...]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith("PG")]:
        monkeypatch.delenv(name)


class Rogue:
    """Answers as a PostgreSQL server that has no TLS and asks for the password in clear text."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            while True:
                with self._socket.accept()[0] as client:
                    self._answer(client)
        except OSError:
            return

    def _answer(self, client: socket.socket) -> None:
        while True:
            size = client.recv(4)
            if len(size) < 4:
                return
            text = client.recv(struct.unpack("!I", size)[0] - 4)
            if struct.unpack("!I", text[:4])[0] in _NO_TLS:
                client.sendall(b"N")
                continue
            client.sendall(b"R" + struct.pack("!II", 8, 3))
            self.heard.append(client.recv(1000))
            return

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)


@pytest.fixture
def rogue() -> Iterator[Rogue]:
    server = Rogue()
    yield server
    server.close()


def target_at(port: int, parameters: str = "", options: Options = (), host: str = NAME) -> PostgresqlTarget:
    """Return a target that is reached at this host under another name, as a remote one would be."""
    url = f"postgresql://with_password@{host}:{port}/postgres?hostaddr=127.0.0.1{parameters}"
    return PostgresqlTarget(Access(parse_url(url), lambda: SECRET, options=options))


def store_at(port: int, parameters: str = "", host: str = NAME) -> str:
    return f"postgresql://with_password:{SECRET}@{host}:{port}/postgres?hostaddr=127.0.0.1{parameters}"


def refused(target: PostgresqlTarget) -> ToolkitError:
    with pytest.raises(ToolkitError) as caught:
        target.connect(Role.CONTROL, TAG)
    assert SECRET not in f"{caught.value.message}{caught.value.hint}"
    return caught.value


# -- a rogue server ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("parameters", "options", "hint"),
    [
        ("", (), "require_auth=password"),
        ("&sslmode=disable", (), "require_auth=password"),
        ("", (("require_auth", "scram-sha-256"),), "verified server"),
        ("&require_auth=scram-sha-256", (), "verified server"),
        ("&sslmode=require", (), "no TLS"),
        ("", (("sslmode", "verify-full"), ("sslrootcert", "system")), "no TLS"),
        ("&require_auth=password", (("require_auth", "scram-sha-256"),), "verified server"),
    ],
)
def test_a_rogue_server_gets_no_password(rogue: Rogue, parameters: str, options: Options, hint: str) -> None:
    error = refused(target_at(rogue.port, parameters, options))
    assert error.code == "TK-0201" and hint in str(error.hint), (error.message, error.hint)
    assert SECRET.encode() not in b"".join(rogue.heard)


@pytest.mark.parametrize(
    ("parameters", "hint"),
    [("", "verified server"), ("&sslmode=require", "no TLS"), ("&require_auth=scram-sha-256", "verified server")],
)
def test_a_rogue_server_gets_no_password_of_a_store(rogue: Rogue, parameters: str, hint: str) -> None:
    with pytest.raises(ToolkitError) as caught:
        open_store(store_at(rogue.port, parameters))
    error = caught.value
    assert error.code == "TK-0401" and hint in str(error.hint), (error.message, error.hint)
    assert SECRET not in f"{error.message}{error.hint}"
    assert SECRET.encode() not in b"".join(rogue.heard)


def test_who_lets_a_store_send_clear_text_has_it_sent(rogue: Rogue) -> None:
    with pytest.raises(ToolkitError):
        open_store(store_at(rogue.port, "&require_auth=password"))
    assert SECRET.encode() in b"".join(rogue.heard), "else the tests above prove nothing"


def test_who_asks_for_clear_text_gets_it(rogue: Rogue) -> None:
    refused(target_at(rogue.port, options=(("require_auth", "password"),)))
    assert SECRET.encode() in b"".join(rogue.heard), "else the tests above prove nothing"


# -- TLS of a real server ---------------------------------------------------------------------------------------
def certificate(folder: Path, name: str, by: str | None = None) -> Path:
    """Write a certificate and its key; signed by an authority written before, or by itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    issuer, signer = name, key
    if by is not None:
        issuer = by
        loaded = serialization.load_pem_private_key((folder / f"{by}.key").read_bytes(), None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        signer = loaded
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    )
    made = folder / f"{name}.crt"
    made.write_bytes(builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    (folder / f"{name}.key").chmod(0o600)
    return made


@pytest.fixture(scope="module")
def authorities(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    for name in ("authority", "stranger"):
        certificate(folder, name)
    certificate(folder, NAME, "authority")
    return folder


@pytest.fixture(scope="module")
def server(authorities: Path) -> Iterator[Server]:
    folders = installed()
    if not folders:
        missing("no PostgreSQL binaries")
    key = authorities / f"{NAME}.key"
    user = unprivileged()
    if user is not None:
        os.chown(key, user.pw_uid, user.pw_gid)
        for folder in (authorities, *authorities.parents[:3]):
            folder.chmod(0o711)
    tls = {"ssl": "on", "ssl_cert_file": str(authorities / f"{NAME}.crt"), "ssl_key_file": str(key)}
    with begun_from(next(iter(folders.values())), tls) as begun:
        with begun.connect() as session:
            session.execute(f"ALTER ROLE with_password PASSWORD '{SECRET}'")
        yield begun


def verifying(authorities: Path, authority: str = "authority") -> Options:
    return (("sslmode", "verify-full"), ("sslrootcert", str(authorities / f"{authority}.crt")))


def test_the_right_server_is_verified_and_the_password_is_sent(server: Server, authorities: Path) -> None:
    target = target_at(server.port, options=verifying(authorities))
    session = target.connect(Role.CONTROL, TAG)
    rows = session.execute("SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()").rows
    session.close()
    assert rows[0]["ssl"] is True and target.exposure is None
    by_url = "".join(f"&{name}={value}" for name, value in verifying(authorities))
    target_at(server.port, by_url).connect(Role.CONTROL, TAG).close()
    environment = target.programs_access("x").environment
    assert environment["PGSSLMODE"] == "verify-full" and environment["PGSSLROOTCERT"].endswith("authority.crt")


@pytest.mark.parametrize(
    ("host", "authority", "hint"),
    [
        ("other.example", "authority", "the certificate is for another name"),
        (NAME, "stranger", "not from the authority in sslrootcert"),
        (NAME, "nobody", "give the file of the authority's certificate"),
    ],
)
def test_another_server_is_refused_with_what_is_wrong(
    server: Server, authorities: Path, host: str, authority: str, hint: str
) -> None:
    error = refused(target_at(server.port, options=verifying(authorities, authority), host=host))
    assert hint in str(error.hint), (error.message, error.hint)


def test_a_server_that_takes_scram_is_reached_without_verifying_it(server: Server) -> None:
    target_at(server.port).connect(Role.CONTROL, TAG).close()


def test_a_store_is_verified_as_a_target_is(server: Server, authorities: Path) -> None:
    with server.connect() as session:
        session.execute("GRANT CREATE ON DATABASE postgres TO with_password")
    by_url = "".join(f"&{name}={value}" for name, value in verifying(authorities))
    with open_store(store_at(server.port, by_url)) as store:
        assert store.exposure is None
        assert "sslmode=verify-full" in str(store.address) and "sslrootcert=" in str(store.address)
    with open_store(store_at(server.port)) as store:
        assert str(store.exposure).startswith(f"the results store: nothing verifies that `{NAME}` is the server")
    with pytest.raises(ToolkitError) as caught:
        open_store(store_at(server.port, by_url, "other.example"))
    assert "the certificate is for another name" in str(caught.value.hint)


# -- what is said of it -----------------------------------------------------------------------------------------
@for_each(
    ("parameters", "options", "told"),
    [
        ("", (), "nothing verifies that `db.example` is the server (sslmode is prefer)"),
        ("&sslmode=require", (), "sslmode is require"),
        ("", (("sslmode", "verify-ca"),), "is the server of this name (sslmode is verify-ca)"),
        ("&sslmode=verify-full", (), ""),
        ("&sslmode=disable", (("sslmode", "verify-full"),), ""),
        ("&sslrootcert=system", (), ""),
        ("&gssencmode=require", (), ""),
    ],
)
def test_what_is_at_stake_is_told(parameters: str, options: Options, told: str) -> None:
    found = target_at(1, parameters, options).exposure
    assert (found is None) is (told == "") and told in (found.sentence if found else "")


@pytest.mark.parametrize("url", ["postgresql://u@localhost/db", "postgresql://u@127.0.0.1/db", "postgresql:///db"])
def test_a_server_of_this_host_is_not_told_of(url: str) -> None:
    assert PostgresqlTarget(Access(parse_url(url))).exposure is None


def test_libpqs_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    target = PostgresqlTarget(Access(parse_url("postgresql:///db")))
    monkeypatch.setenv("PGHOST", "far.example")
    assert target.exposure is not None and "`far.example`" in target.exposure.evidence
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    assert target.exposure is None


@for_each(
    ("policy", "approvals", "count"),
    [
        (TargetPolicy(production=True), Approvals(), 1),
        (TargetPolicy(), Approvals(), 1),
        (TargetPolicy(), Approvals(not_production=True), 0),
        (TargetPolicy(production=True), Approvals(not_production=True), 1),
        (TargetPolicy(production=False), Approvals(), 0),
    ],
)
def test_it_is_told_of_production_and_what_may_be(policy: TargetPolicy, approvals: Approvals, count: int) -> None:
    assert len(exposed(target_at(1), policy, approvals)) == count
