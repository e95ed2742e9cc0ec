"""serve_pieces PORT: an HTTP server that reads and answers its connections, by turns, with recvmsg and sendmsg, and with
readv and writev, of two buffers each."""

import os
import socket
import sys

ANSWER = [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", b"Connection: close\r\n\r\nfast"]
CALLS = [(lambda one, buffers: one.recvmsg_into(buffers)[0], lambda one, pieces: one.sendmsg(pieces)),
         (lambda one, buffers: os.readv(one.fileno(), buffers), lambda one, pieces: os.writev(one.fileno(), pieces))]


def serve(port):
    with socket.create_server(("127.0.0.1", port)) as listener:
        turn = 0
        while True:
            connection, _ = listener.accept()
            receive, send = CALLS[turn % 2]
            turn += 1
            with connection:
                if receive(connection, [bytearray(200), bytearray(65536)]) > 0:
                    send(connection, ANSWER)


if __name__ == "__main__":
    open(os.environ["SERVE_LOG"], "w").close()
    serve(int(sys.argv[1]))
