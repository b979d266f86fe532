"""Keys for the connections of a campaign over several machines: made once, copied to each."""

import datetime
import os
from pathlib import Path

from linerate.base.errors import UserError

DAYS = 3650
FILES = ("ca.pem", "cert.pem", "key.pem")


class KeysError(UserError):
    """Keys that can't be made."""


def make(folder: Path) -> list[Path]:
    """Make a key and its certificate, which alone it is trusted by. Raises KeysError."""
    from cryptography import x509  # noqa: PLC0415 (slow to load)
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    paths = [folder / name for name in FILES]
    if there := [path for path in paths if path.exists()]:
        raise KeysError(f"{there[0]}: is there already; remove it to make new keys")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "linerate campaign")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path, content in zip(paths, (certificate, certificate, secret), strict=True):
        # Made with its mode: at no time can another user read the key.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
            file.write(content)
    return paths
