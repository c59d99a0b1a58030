"""20 calls of gRPC at once, each with a reply of 50 kB: serve | fetch."""

import sys
from concurrent import futures

import grpc


def same(data: bytes) -> bytes:
    """Bytes as they are, instead of messages of protobuf."""
    return data


def serve() -> None:
    """Answer until the run ends."""
    server = grpc.server(futures.ThreadPoolExecutor(4))
    method = grpc.unary_unary_rpc_method_handler(lambda _request, _context: bytes(50_000))
    handler = grpc.method_handlers_generic_handler("trial.Trial", {"Get": method})
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port("0.0.0.0:9000")
    server.start()
    server.wait_for_termination()


def fetch() -> None:
    """Call, and print the number of bytes received."""
    with grpc.insecure_channel("server:9000") as channel:
        call = channel.unary_unary("/trial.Trial/Get", same, same)
        replies = [call.future(b"", timeout=30) for _ in range(20)]
        print(sum(len(reply.result()) for reply in replies))


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else fetch()
