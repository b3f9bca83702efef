# SPDX-License-Identifier: GPL-2.0
"""A file server of asyncio, with keep-alive. usage: server.py ADDRESS PORT FILE memory|read|sendfile"""
import asyncio
import os
import sys

ADDRESS, PORT, FILE, HOW = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
HEAD = f"HTTP/1.1 200 OK\r\nContent-Length: {os.path.getsize(FILE)}\r\n\r\n".encode()
with open(FILE, "rb") as kept:
    BODY = kept.read()
PIECE = 256 << 10


async def answer(writer: asyncio.StreamWriter) -> None:
    """One answer."""
    if HOW == "memory":
        writer.write(BODY)
        return await writer.drain()
    with open(FILE, "rb", buffering=0) as file:
        if HOW == "sendfile":
            await asyncio.get_running_loop().sendfile(writer.transport, file, fallback=False)
            return None
        while piece := file.read(PIECE):
            writer.write(piece)
            await writer.drain()
    return None


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A connection."""
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(HEAD)
            await answer(writer)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main() -> None:
    """Serve until killed."""
    async with await asyncio.start_server(serve, ADDRESS, PORT) as server:
        await server.serve_forever()

asyncio.run(main())
