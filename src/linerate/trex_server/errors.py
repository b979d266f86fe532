"""Errors of the server, as TRex's clients receive them."""


class RpcError(Exception):
    """A JSON-RPC error: its code, its name, and the reason that a client prints."""

    def __init__(self, code: int, message: str, specific: str) -> None:
        super().__init__(specific)
        self.code = code
        self.message = message
        self.specific = specific

    def document(self) -> dict[str, object]:
        """As the protocol has it."""
        return {"code": self.code, "message": self.message, "specific_err": self.specific}


class FailedError(RpcError):
    """The method is known, and could not be carried out."""

    def __init__(self, specific: str) -> None:
        super().__init__(-32000, "Server error", specific)


class BadParametersError(RpcError):
    """Parameters that are missing, or of another kind than the method takes."""

    def __init__(self, specific: str) -> None:
        super().__init__(-32602, "Invalid params", specific)


class BadRequestError(RpcError):
    """JSON that is no request."""

    def __init__(self, specific: str) -> None:
        super().__init__(-32600, "Invalid Request", specific)


class BadTextError(RpcError):
    """A message that is no JSON, or not framed as TRex frames it."""

    def __init__(self, specific: str) -> None:
        super().__init__(-32700, "Parse error", specific)


class NoMethodError(RpcError):
    """A method that the server does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(-32601, "Method not found", f"no method '{name[:80]}'")
