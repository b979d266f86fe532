"""`vppctl [-s SOCKET] COMMAND…` of the stand-in: sends one command, prints the answer."""

import socket
import sys

DEFAULT = "/run/vpp/cli.sock"


def main() -> None:
    words = sys.argv[1:]
    path = DEFAULT
    if words[:1] == ["-s"]:
        path, words = words[1], words[2:]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        try:
            connection.connect(path)
        except OSError as error:
            sys.exit(f"connect: {error.strerror}")
        connection.sendall(f"{' '.join(words)}\n".encode())
        with connection.makefile("r") as answer:
            sys.stdout.write(answer.read())


main()
