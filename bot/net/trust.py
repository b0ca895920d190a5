"""Which certificates are believed: those of the operating system, wherever it keeps them."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Final

BUNDLES: Final = (
    "/etc/ssl/cert.pem",  # Alpine, Arch, macOS, BSD
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/cert.pem",  # older Fedora, RHEL
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu
    "/etc/ssl/ca-bundle.pem",  # SUSE
)
"""For Pythons that were built elsewhere and bring an OpenSSL that looks where this system keeps nothing."""


def trust(bundles: Sequence[str] = BUNDLES) -> ssl.SSLContext | bool:
    """What aiohttp takes as ``ssl``. True where OpenSSL finds the system's certificates by itself (SSL_CERT_FILE and
    SSL_CERT_DIR, which point at them, are honoured); else a context with the first of ``bundles`` that exists."""
    found = ssl.get_default_verify_paths()
    bundle = next((path for path in bundles if Path(path).is_file()), None)
    if found.cafile or bundle is None or (found.capath and any(Path(found.capath).glob("*.0"))):
        return True
    return ssl.create_default_context(cafile=bundle)
