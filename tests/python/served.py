"""A web server for tests: files in memory, ranges, etags, and typical server failures."""

import hashlib
import http.server
import pathlib
import threading
import time


class Server:
    """Attributes: sent: bytes of bodies; gets: names requested by GET; broken: status of all answers; silent: seconds
    before each answer; ranges, lengths, etags: whether the server supports them; most: the largest number of
    simultaneous requests."""

    def __init__(self):
        self.files, self.times = {}, {}
        self.sent, self.gets = 0, []
        self.broken, self.silent, self.ranges, self.heads, self.lengths = None, 0.0, True, True, True
        self.etags, self.now, self.most = True, 0, 0
        self.failures = 0  # number of answers with 503 before the first success
        self.after_get = None
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_HEAD(self):
                outer.answer(self, False)

            def do_GET(self):
                outer.answer(self, True)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_port}/{name}"

    def put(self, name, content):
        """content: bytes, (first bytes, size) with zeros after them, or the path of a file."""
        self.files[name] = content
        self.times[name] = time.time()

    def piece(self, name, begin, end):
        content = self.files[name]
        if isinstance(content, bytes):
            return content[begin:end]
        if isinstance(content, pathlib.Path):
            with open(content, "rb") as file:
                file.seek(begin)
                return file.read(end - begin)
        return content[0][begin:end].ljust(end - begin, b"\0")

    def size(self, name):
        content = self.files[name]
        if isinstance(content, pathlib.Path):
            return content.stat().st_size
        return len(content) if isinstance(content, bytes) else content[1]

    def answer(self, handler, with_body):
        self.now += 1
        self.most = max(self.most, self.now)
        time.sleep(self.silent)
        self.now -= 1
        name = handler.path.lstrip("/").split("?")[0]
        status = self.broken
        if self.failures > 0:
            self.failures -= 1
            status = 503
        if not with_body and not self.heads:
            status = 405
        if status is None and name not in self.files:
            status = 404
        if status is not None:
            handler.send_response(status)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        size = self.size(name)
        begin, end = 0, size
        requested = handler.headers.get("Range") if self.ranges else None
        if requested:
            first, _, last = requested.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(int(last) + 1 if last else size, size)
        handler.send_response(206 if requested else 200)
        if self.lengths:
            handler.send_header("Content-Length", str(end - begin))
        else:
            handler.send_header("Connection", "close")
        if requested:
            handler.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
        digest = hashlib.sha256(self.piece(name, 0, min(size, 1 << 20)))
        if self.etags:
            handler.send_header("ETag", f'"{digest.hexdigest()[:16]}"')
        handler.end_headers()
        if not with_body:
            return
        self.gets.append(name)
        try:
            while begin < end:
                piece = self.piece(name, begin, min(end, begin + (1 << 18)))
                handler.wfile.write(piece)
                self.sent += len(piece)
                begin += len(piece)
        except OSError:
            handler.close_connection = True
        if self.after_get:
            after, self.after_get = self.after_get, None
            after(name)
