"""Answers of meters by HTTP: local addresses alone, no proxy, no way to another host."""

import ipaddress
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from linerate.lab.power import MeterError
from linerate.model.power_sources import Redfish

ANSWER_BYTES = 1 << 20


class _Stay(urllib.request.HTTPRedirectHandler):
    """A meter that sends its reader elsewhere is none."""

    def redirect_request(self, *_args: Any) -> None:  # noqa: ANN401 (urllib's)
        """Follow nothing: the answer is the error that it is."""


class _Basic(urllib.request.HTTPBasicAuthHandler):
    """A password in clear text, for those that ask for it."""

    def http_error_401(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:  # noqa: ANN401
        """Ask again; urllib leaves the first answer open."""
        fp.close()
        return super().http_error_401(req, fp, code, msg, headers)


class _Digest(urllib.request.HTTPDigestAuthHandler):
    """Digests with SHA-256, as newer meters ask for."""

    def http_error_401(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:  # noqa: ANN401
        """Ask again; urllib leaves the first answer open."""
        fp.close()
        return super().http_error_401(req, fp, code, msg, headers)

    def get_algorithm_impls(self, algorithm: str) -> Any:  # noqa: ANN401 (urllib's)
        """Hash, and keyed hash."""
        if algorithm.upper() != "SHA-256":
            return super().get_algorithm_impls(algorithm)

        def hashed(text: str) -> str:
            return sha256(text.encode()).hexdigest()

        return hashed, lambda secret, data: hashed(f"{secret}:{data}")


class Http:
    """One meter's web server."""

    def __init__(
        self,
        url: str,
        timeout_s: float,
        user: str = "",
        password: str = "",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._url = url
        self._timeout_s = timeout_s
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({}), _Stay()]
        if tls is not None:
            handlers.append(urllib.request.HTTPSHandler(context=tls))
        if password:
            known = urllib.request.HTTPPasswordMgrWithPriorAuth()
            # Not every controller asks; in clear text a password is only sent to one that does.
            known.add_password(None, url, user, password, url.startswith("https:"))
            handlers += [_Basic(known), _Digest(known)]
        self._opener = urllib.request.build_opener(*handlers)

    def json(self, path: str) -> Any:  # noqa: ANN401 (what JSON can hold)
        """Answer to a path; raises MeterError."""
        content = self.content(path)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise MeterError(f"{self._url}: expected JSON, not {shown(content)}") from None

    def content(self, path: str) -> bytes:
        """The same as it came."""
        check_local(urlsplit(self._url).hostname or "")
        request = urllib.request.Request(self._url + path, headers={"Accept": "application/json"})
        end = time.monotonic() + self._timeout_s
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return self._whole(answer, end)
        except MeterError:
            raise
        except urllib.error.HTTPError as error:
            error.close()
            raise MeterError(f"{self._url}: {_refusal(error.code)}") from None
        except TimeoutError:
            raise MeterError(self._late()) from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise MeterError(self._late()) from None
            raise MeterError(f"{self._url}: {_why(error.reason)}") from None
        except (OSError, ValueError) as error:
            raise MeterError(f"{self._url}: {_why(error)}") from None
        except Exception as error:  # http.client has errors of its own for rubbish
            raise MeterError(f"{self._url}: no HTTP: {type(error).__name__}") from None

    def _whole(self, answer: Any, end: float) -> bytes:  # noqa: ANN401 (urllib's)
        """All of an answer; one that comes by the byte has no more time than another."""
        parts: list[bytes] = []
        size = 0
        while part := answer.read1(65536):
            parts.append(part)
            size += len(part)
            if size > ANSWER_BYTES:
                raise MeterError(
                    f"{self._url}: more than {ANSWER_BYTES:,} bytes, no meter's answer"
                )
            if time.monotonic() > end:
                raise MeterError(self._late())
        return b"".join(parts)

    def _late(self) -> str:
        return (
            f"{self._url}: no answer within {self._timeout_s:g} s; is it on, and reached by ping?"
        )


def _refusal(status: int) -> str:
    if status in (401, 403):
        return f"status {status}: give `user:` and `password_file:` or `password_env:`"
    if 300 <= status < 400:
        return f"status {status}: it sends us to another address; give that one"
    return f"status {status}"


def _why(reason: object) -> str:
    text = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    return "".join(one for one in str(text).lower() if one.isprintable())[:200]


def check_local(host: str) -> None:
    """Raise MeterError where a name leads to an address that the whole internet reaches."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise MeterError(f"{host}: no such host; give its address") from None
    for *_, address in found:
        number = str(address[0]).partition("%")[0]
        if ipaddress.ip_address(number).is_global:
            raise MeterError(f"{host}: {number} is a public address: meters are read locally alone")


def tls_of(spec: Redfish) -> ssl.SSLContext:
    """Trust in a controller's certificate; raises MeterError."""
    try:
        context = ssl.create_default_context(cafile=spec.certificate)
    except (OSError, ssl.SSLError) as error:
        raise MeterError(f"{spec.certificate}: no certificate: {_why(error)}") from None
    if spec.unchecked_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def number(value: object) -> float | None:
    """A figure of JSON; a text that is one, too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < 1e15 else None


def shown(content: bytes) -> str:
    """Beginning of an answer, as an error shows it."""
    text = "".join(one for one in content[:60].decode(errors="replace") if one.isprintable())
    return f"'{text}'" if text else "nothing"
