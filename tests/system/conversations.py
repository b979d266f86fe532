"""Ten conversations made with scapy, written as captures of one connection each."""

from collections.abc import Callable
from pathlib import Path

from scapy.layers.dns import DNS, DNSQR, DNSRR
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.layers.ntp import NTPHeader
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

CLIENT, SERVER = "client", "server"
#: A conversation: the sender, and its payload.
Said = list[tuple[str, bytes]]
Conversation = list[tuple[str, Packet]]
HOSTS = {CLIENT: "10.9.8.7", SERVER: "172.16.5.4"}
MACS = {CLIENT: "02:aa:00:00:00:01", SERVER: "02:aa:00:00:00:02"}
MSS = 1460


def _ip(sender: str) -> Packet:
    other = SERVER if sender == CLIENT else CLIENT
    ether = Ether(src=MACS[sender], dst=MACS[other])
    return ether / IP(src=HOSTS[sender], dst=HOSTS[other])


def _ports(sender: str, port: int, source: int) -> dict[str, int]:
    ends = (source, port) if sender == CLIENT else (port, source)
    return {"sport": ends[0], "dport": ends[1]}


class Tcp:
    """A TCP connection that is written down."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._next = {CLIENT: 1000, SERVER: 900_000}
        self.packets: Conversation = []

    def send(self, sender: str, flags: str, data: bytes = b"") -> None:
        """One segment; it acknowledges all that came."""
        other = SERVER if sender == CLIENT else CLIENT
        acknowledged = self._next[other] if "A" in flags else 0
        header = TCP(
            flags=flags,
            seq=self._next[sender],
            ack=acknowledged,
            window=29200,
            **_ports(sender, self._port, 40_000),
        )
        self.packets.append(
            (sender, _ip(sender) / header / Raw(data) if data else _ip(sender) / header)
        )
        self._next[sender] += len(data) + ("S" in flags) + ("F" in flags)


def tcp(port: int, message: Said) -> Conversation:
    """Handshake, payloads, both sides' FIN."""
    connection = Tcp(port)
    connection.send(CLIENT, "S")
    connection.send(SERVER, "SA")
    connection.send(CLIENT, "A")
    for sender, data in message:
        for at in range(0, len(data), MSS):
            connection.send(sender, "PA", data[at : at + MSS])
        connection.send(SERVER if sender == CLIENT else CLIENT, "A")
    connection.send(CLIENT, "FA")
    connection.send(SERVER, "FA")
    connection.send(CLIENT, "A")
    return connection.packets


def udp(port: int, message: list[tuple[str, Packet | bytes]]) -> Conversation:
    """Datagrams."""
    return [
        (
            sender,
            _ip(sender)
            / UDP(**_ports(sender, port, 50_000))
            / (Raw(data) if isinstance(data, bytes) else data),
        )
        for sender, data in message
    ]


def http(length: int) -> Said:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/plain\r\n\r\n" % length
    request = b"GET /of/%d HTTP/1.1\r\nHost: example.net\r\n\r\n" % length
    return [(CLIENT, request), (SERVER, answer + b"x" * length)]


def lines(*texts: str) -> Said:
    """Texts of both, the server's first."""
    return [((SERVER, CLIENT)[n % 2], f"{text}\r\n".encode()) for n, text in enumerate(texts)]


def dns(name: str, address: str) -> Conversation:
    query = DNS(id=7, rd=1, qd=DNSQR(qname=name))
    record = DNSRR(rrname=name, rdata=address, ttl=60)
    answer = DNS(id=7, qr=1, rd=1, ra=1, qd=DNSQR(qname=name), an=record)
    return udp(53, [(CLIENT, query), (SERVER, answer)])


def quic(datagrams: int) -> Conversation:
    """The look of it: long datagrams from the server, short ones from the client."""
    message: list[tuple[str, Packet | bytes]] = [(CLIENT, b"\x41" + bytes(range(200)) * 6)]
    for number in range(datagrams):
        message.append((SERVER, bytes([0x42, number]) + b"\x5a" * 1200))
        if number % 2:
            message.append((CLIENT, bytes([0x41, number]) + b"\xa5" * 33))
    return udp(4443, message)


MAKERS: dict[str, Callable[[], Conversation]] = {
    "http-small": lambda: tcp(80, http(300)),
    "http-large": lambda: tcp(8080, http(9000)),
    "smtp": lambda: tcp(
        25,
        lines("220 mail", "HELO me", "250 hello", "MAIL FROM:<a@b>", "250 ok", "QUIT", "221 bye"),
    ),
    "pop3": lambda: tcp(110, lines("+OK ready", "USER me", "+OK", "PASS it", "+OK", "QUIT", "+OK")),
    "ftp": lambda: tcp(21, lines("220 here", "USER me", "331 which", "QUIT", "221 bye")),
    "telemetry": lambda: tcp(9000, [(CLIENT, b"m=" + b"1" * n) for n in (20, 700, 1460, 3)]),
    "dns-short": lambda: dns("example.net", "192.0.2.1"),
    "dns-long": lambda: dns("a.rather.long.name.of.a.host.example.net", "192.0.2.77"),
    "ntp": lambda: udp(123, [(CLIENT, NTPHeader(mode=3)), (SERVER, NTPHeader(mode=4, stratum=1))]),
    "quic": lambda: quic(6),
}


def write_all(folder: Path) -> dict[str, Conversation]:
    """A capture for each, NAME.pcap; its times are the packets' numbers in milliseconds."""
    made = {name: make() for name, make in MAKERS.items()}
    for name, conversation in made.items():
        packets = [packet for _sender, packet in conversation]
        for number, packet in enumerate(packets):
            packet.time = 1_700_000_000 + number / 1000
        wrpcap(str(folder / f"{name}.pcap"), packets)
    return made


def profile(cps: float, ipg_us: int, rtt_us: int, **top: str) -> str:
    """The text of a TRex stateful profile of all of them."""
    more = "".join(f"  {key} : {value}\n" for key, value in top.items())
    head = (
        "- duration : 2.0\n"
        "  generator :\n"
        '          distribution : "seq"\n'
        '          clients_start : "16.0.0.1"\n'
        '          clients_end   : "16.0.0.200"\n'
        '          servers_start : "48.0.0.1"\n'
        '          servers_end   : "48.0.1.255"\n'
        "          clients_per_gb : 201\n"
        "          min_clients    : 101\n"
        '          dual_port_mask : "1.0.0.0"\n'
        "          tcp_aging      : 0\n"
        "          udp_aging      : 0\n"
        f"{more}"
        "  cap_info :\n"
    )
    return head + "".join(
        f"     - name: {name}.pcap\n       cps : {cps}\n       ipg : {ipg_us}\n"
        f"       rtt : {rtt_us}\n       w   : 1\n"
        for name in MAKERS
    )
