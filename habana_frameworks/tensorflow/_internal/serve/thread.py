"""Thread that runs a device server's front in the calling process."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Mapping, Sequence

from habana_frameworks.tensorflow._internal.serve.front import Front
from habana_frameworks.tensorflow._internal.serve.settings import ServerSettings


class FrontThread:
    """A device server that runs until stop()."""

    def __init__(self, settings: ServerSettings, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Starts the server and waits until it listens. Raises StatusError if the start fails.

        `command` and `environment` start the fork server.
        """
        self._settings = settings
        self._command = command
        self._environment = environment
        self._started: concurrent.futures.Future[str] = concurrent.futures.Future()
        self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(self._serve())
        self._thread = threading.Thread(target=self._run, name="hpu_front", daemon=True)
        self._thread.start()
        try:
            self.spec = self._started.result()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends all sessions and the server, and joins the thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: the start failed, or stop() was called before
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)
        self._loop.close()

    async def _serve(self) -> None:
        try:
            front = Front(self._settings)
            spec = await front.start(self._command, self._environment)
        except BaseException as error:
            self._started.set_exception(error)
            return
        self._started.set_result(spec)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await front.stop()
