"""Serves SavedModels by TensorFlow Serving's REST API: TF_RECIPE_CACHE_PATH=cache server.py digits=models/digits

GET  /v1/models/NAME                     state of the model
POST /v1/models/NAME[/versions/N]:predict  {"instances": […]} -> {"predictions": […]}
GET  /monitoring/prometheus/metrics      recipes by origin
Errors are {"error": TEXT} with an HTTP status, such as 400 for wrong instances. The server has no authentication.
"""

from __future__ import annotations

import argparse
import dataclasses
import http.server
import json
import pathlib
import re
import signal
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import tensorflow as tf

from habana_frameworks.tensorflow import load_habana_module, statistics
from served_model import DEFAULT_SIGNATURE, RequestError, ServedModel

MAX_BODY_BYTES = 64 << 20
_PATH = re.compile(r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d+))?(?P<verb>:predict)?")
_STATUS_OF_ERROR = {
    tf.errors.InvalidArgumentError: HTTPStatus.BAD_REQUEST,
    tf.errors.ResourceExhaustedError: HTTPStatus.TOO_MANY_REQUESTS,
    tf.errors.UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
}


@dataclasses.dataclass(frozen=True)
class Answer:
    status: HTTPStatus
    body: str
    content_type: str = "application/json"


def answer_json(content: Mapping[str, Any]) -> Answer:
    return Answer(HTTPStatus.OK, json.dumps(content) + "\n")


def error(status: HTTPStatus, text: str) -> Answer:
    return Answer(status, json.dumps({"error": text}) + "\n")


class Server(http.server.ThreadingHTTPServer):
    """HTTP server of models by name, with a thread for each connection. server_close() waits for the threads."""

    daemon_threads = False

    def __init__(self, address: tuple[str, int], models: Mapping[str, ServedModel]) -> None:
        super().__init__(address, Handler)
        self.models = models


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request. With HTTP/1.0, the default of the base class, a connection has one request."""

    server: Server
    timeout = 30  # seconds for each read of a request

    def do_GET(self) -> None:
        if self.path == "/monitoring/prometheus/metrics":
            self._send(metrics())
            return
        found = self._model()
        if isinstance(found, Answer):
            self._send(found)
            return
        match, model = found
        self._send(malformed(self) if match["verb"] else status(model))

    def do_POST(self) -> None:
        body = self._body()
        found = self._model()
        if isinstance(body, Answer):
            self._send(body)
        elif isinstance(found, Answer):
            self._send(found)
        else:
            match, model = found
            self._send(predict(model, body) if match["verb"] else malformed(self))

    def _model(self) -> tuple[re.Match[str], ServedModel] | Answer:
        match = _PATH.fullmatch(self.path)
        if match is None:
            return malformed(self)
        model = self.server.models.get(match["name"])
        if model is None or (match["version"] is not None and int(match["version"]) != model.version):
            return error(HTTPStatus.NOT_FOUND, f"no model {match['name']} of this version is loaded: {self.path}")
        return match, model

    def _body(self) -> bytes | Answer:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            return error(HTTPStatus.LENGTH_REQUIRED, "the request has no Content-Length")
        if int(length) > MAX_BODY_BYTES:
            text = f"the request has {length} bytes, limit {MAX_BODY_BYTES}: send fewer instances"
            return error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
        return self.rfile.read(int(length))

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def malformed(handler: Handler) -> Answer:
    return error(HTTPStatus.BAD_REQUEST, f"malformed request: {handler.command} {handler.path}")


def status(model: ServedModel) -> Answer:
    state = {"error_code": "OK", "error_message": ""}
    version = {"version": str(model.version), "state": "AVAILABLE", "status": state}
    return answer_json({"model_version_status": [version]})


def predict(model: ServedModel, body: bytes) -> Answer:
    try:
        request = json.loads(body)
        if not isinstance(request, dict):
            raise RequestError("the request is not a JSON object")
        signature = str(request.get("signature_name", DEFAULT_SIGNATURE))
        return answer_json({"predictions": model.predict(request.get("instances"), signature)})
    except (ValueError, RecursionError) as failure:  # RequestError, and JSON or UTF-8 that does not parse
        return error(HTTPStatus.BAD_REQUEST, str(failure))
    except tf.errors.OpError as failure:
        return error(_STATUS_OF_ERROR.get(type(failure), HTTPStatus.INTERNAL_SERVER_ERROR), failure.message)


def metrics() -> Answer:
    """Counts of recipes in Prometheus's text format."""
    counts = statistics.recipes()
    lines = ["# TYPE hpu_recipes counter"]
    for origin in ("compiled", "disk_hits", "memory_hits"):
        lines.append(f'hpu_recipes{{origin="{origin}"}} {getattr(counts, origin)}')
    return Answer(HTTPStatus.OK, "\n".join(lines) + "\n", "text/plain; version=0.0.4")


def named_folder(text: str) -> tuple[str, pathlib.Path]:
    name, separator, folder = text.partition("=")
    if not (name and separator and folder):
        raise argparse.ArgumentTypeError(f"not NAME=FOLDER: {text}")
    return name, pathlib.Path(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=named_folder, metavar="NAME=FOLDER")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501, help="0 takes a free port")
    arguments = parser.parse_args()
    load_habana_module()
    models = {name: ServedModel(folder) for name, folder in arguments.models}
    for name, model in models.items():
        model.warm_up(model.batch_sizes)
        print(f"{name}: version {model.version}, batch sizes {model.batch_sizes or 'not listed'}", flush=True)
    with Server((arguments.host, arguments.port), models) as server:
        # shutdown() waits for serve_forever(), which runs in the thread of the signal handler.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        print(f"listening on http://{arguments.host}:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
