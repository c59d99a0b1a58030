"""A server and a client of QUIC with aioquic: three streams. Run with ``serve`` or ``fetch``."""

import asyncio
import ssl
import subprocess
import sys

from aioquic.asyncio import connect, serve
from aioquic.quic.configuration import QuicConfiguration

PROTOCOLS = ["trial"]
ANSWERS = set()
CERTIFICATE = (
    "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=server -days 9 -keyout key.pem "
    "-out cert.pem"
)


def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send 400 kB on a stream that the client opened."""

    async def send() -> None:
        await reader.read()
        writer.write(bytes(400_000))
        writer.write_eof()

    ANSWERS.add(asyncio.ensure_future(send()))


async def run_server() -> None:
    """Serve for ever."""
    configuration = QuicConfiguration(is_client=False, alpn_protocols=PROTOCOLS)
    subprocess.run(CERTIFICATE.split(), check=True, stderr=subprocess.DEVNULL)
    configuration.load_cert_chain("cert.pem", "key.pem")
    await serve("::", 4433, configuration=configuration, stream_handler=answer)
    await asyncio.Event().wait()


async def run_client() -> None:
    """Fetch on three streams at a time."""
    configuration = QuicConfiguration(alpn_protocols=PROTOCOLS, verify_mode=ssl.CERT_NONE)
    async with connect("server", 4433, configuration=configuration) as connection:

        async def fetch() -> int:
            reader, writer = await connection.create_stream()
            writer.write(b"send")
            writer.write_eof()
            return len(await reader.read())

        print(await asyncio.gather(*(fetch() for _ in range(3))))


asyncio.run(run_server() if sys.argv[1] == "serve" else run_client())
