"""An ASGI application with one reply of 300 kB; as a script it fetches that over HTTP/3."""

import asyncio
import ssl
from typing import Any

BYTES = 300_000


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The application."""
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"].endswith("shutdown"):
                return
    headers = [(b"content-length", str(BYTES).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": bytes(BYTES)})


async def fetch() -> None:
    """Fetch the reply and print its length."""
    from aioquic.asyncio.client import connect
    from aioquic.asyncio.protocol import QuicConnectionProtocol
    from aioquic.h3.connection import H3Connection
    from aioquic.h3.events import DataReceived
    from aioquic.quic.configuration import QuicConfiguration

    class Client(QuicConnectionProtocol):
        def __init__(self, *rest: Any, **more: Any) -> None:
            super().__init__(*rest, **more)
            self.http = H3Connection(self._quic)
            self.length = 0
            self.done = asyncio.get_event_loop().create_future()

        def quic_event_received(self, event: Any) -> None:
            for data in self.http.handle_event(event):
                if isinstance(data, DataReceived):
                    self.length += len(data.data)
                    if data.stream_ended:
                        self.done.set_result(self.length)

    settings = QuicConfiguration(alpn_protocols=["h3"], is_client=True, verify_mode=ssl.CERT_NONE)
    async with connect("server", 4433, configuration=settings, create_protocol=Client) as client:
        request = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", b"server"),
                   (b":path", b"/")]  # fmt: skip
        stream = client._quic.get_next_available_stream_id()
        client.http.send_headers(stream, request, end_stream=True)
        client.transmit()
        print(await asyncio.wait_for(client.done, 20))


if __name__ == "__main__":
    asyncio.run(fetch())
