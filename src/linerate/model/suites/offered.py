"""A traffic profile on a link: each stream's rate, and all of them together."""

from linerate.base.frozen_model import FrozenModel


class StreamRate(FrozenModel):
    """One stream at full scale."""

    name: str
    #: 0: from t0 to t1; 1: the other way.
    side: int
    #: FCS counted; of a template's packets the mean.
    frame_bytes: int | float
    pps: float
    #: Share of each size in packets of several sizes.
    mix: tuple[tuple[int, float], ...] = ()
    #: Whether its frames say whose they are: by a signature, or by their IP header. Others are
    #: received as `other`.
    signed: bool = True


class Profiled(FrozenModel):
    """A profile in short: what results say of it."""

    profile: str
    text: str
    rate: str
    streams: int
    full_pps: float
    #: Mean, FCS counted.
    frame_bytes: float
    #: Share of the frames of each size.
    sizes: dict[int, float]
    signed: bool


class Offered(FrozenModel):
    """A profile at the rate that was asked for: what a trial sends at full scale."""

    #: The name given, as `imix`, and a description.
    profile: str
    text: str
    #: As asked for: `100%`, `1x`, `5mpps`.
    rate: str
    streams: tuple[StreamRate, ...]
    #: Some streams send bursts, or begin later: the engine says how many frames that makes.
    uneven: bool = False
    #: Connections begun a second: packets come in whole connections only.
    connections_per_second: float = 0.0

    @property
    def full_pps(self) -> float:
        """Packets a second, all directions together."""
        return sum(stream.pps for stream in self.streams)

    @property
    def frame_bytes(self) -> float:
        """Mean frame, FCS counted."""
        whole = sum(stream.pps * stream.frame_bytes for stream in self.streams)
        return whole / self.full_pps if self.full_pps else 0.0

    @property
    def signed(self) -> bool:
        """Whether every frame says whose it is."""
        return all(stream.signed for stream in self.streams)

    @property
    def summary(self) -> Profiled:
        """The same in short: there may be thousands of streams."""
        return Profiled(
            profile=self.profile,
            text=self.text,
            rate=self.rate,
            streams=len(self.streams),
            full_pps=self.full_pps,
            frame_bytes=self.frame_bytes,
            sizes=self.sizes,
            signed=self.signed,
        )

    @property
    def sizes(self) -> dict[int, float]:
        """Share of the frames of each size, the smallest first."""
        shares: dict[int, float] = {}
        for stream in self.streams:
            for size, share in stream.mix or ((round(stream.frame_bytes), 1.0),):
                shares[size] = shares.get(size, 0.0) + share * stream.pps
        whole = self.full_pps or 1.0
        return {size: shares[size] / whole for size in sorted(shares)}
