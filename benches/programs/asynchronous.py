"""A server in asyncio, and ten client threads with a lock. Run with ``serve`` or ``fetch``."""

import asyncio
import hashlib
import socket
import sys
import threading


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send the requested data."""
    size = int((await reader.readline()).decode())
    writer.write(bytes(size))
    await writer.drain()
    writer.close()


async def serve() -> None:
    """Serve for ever."""
    async with await asyncio.start_server(answer, "0.0.0.0", 8080) as server:
        await server.serve_forever()


def fetch(number: int, lock: threading.Lock) -> None:
    """Fetch something and compute with it."""
    with socket.create_connection(("server", 8080)) as connection:
        connection.sendall(f"{100_000 + 10_000 * number}\n".encode())
        content = b"".join(iter(lambda: connection.recv(65536), b""))
    with lock:
        print(number, hashlib.sha256(content * 20).hexdigest()[:8])


if sys.argv[1] == "serve":
    asyncio.run(serve())
else:
    shared = threading.Lock()
    threads = [threading.Thread(target=fetch, args=(i, shared)) for i in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
