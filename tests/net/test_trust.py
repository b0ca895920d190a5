"""Certificates: what the system believes is believed, wherever it keeps it, and nothing else."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.core.errors import TransportError
from bot.net.http import Transport
from bot.net.trust import trust


@dataclass(frozen=True)
class Safe:
    """A TLS server on loopback, and the file of the certificate that it shows."""

    port: int
    certificate: Path


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new certificate for 127.0.0.1 that nobody has signed, its key beside it. OpenSSL's program makes it; on Debian
    it comes with the system's certificates."""
    folder = tmp_path_factory.mktemp("certificate")
    made = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    names = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"))
    subprocess.run(["openssl", *made, *names, *files], check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.fixture
async def safe(certificate: Path) -> AsyncIterator[Safe]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        await writer.drain()
        writer.close()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield Safe(server.sockets[0].getsockname()[1], certificate)


async def test_an_unknown_certificate_is_refused_before_anything_is_sent(safe: Safe) -> None:
    transport = Transport()
    with pytest.raises(TransportError, match="its certificate is not accepted") as caught:
        await transport.fetch("POST", f"https://127.0.0.1:{safe.port}/", body=b"secret")
    await transport.aclose()
    assert not caught.value.sent


def test_where_openssl_finds_the_systems_certificates_they_are_left_to_it(
    safe: Safe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(safe.certificate))
    assert trust([str(safe.certificate)]) is True


async def test_where_openssl_looks_at_the_wrong_place_the_systems_own_is_found(
    safe: Safe, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert trust(["/nowhere.pem"]) is True
    transport = Transport(trusted=trust(["/nowhere.pem", str(safe.certificate)]))
    answer = await transport.fetch("GET", f"https://127.0.0.1:{safe.port}/")
    await transport.aclose()
    assert answer.body == b"ok"
