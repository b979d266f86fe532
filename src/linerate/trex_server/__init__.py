"""A server for TRex's stateless clients: their JSON-RPC, over the engine's tester ports."""
