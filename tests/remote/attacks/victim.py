"""Honest client during an attack: a canary in device memory, and a repeated training."""

from __future__ import annotations

import os
import threading
import time

import numpy as np

from tests.remote.attacks.programs import train_step
from tests.remote.device_client import MIB, Session, aligned

MEMORY_BYTES = 64 * MIB
_CANARY_AT = 32 * MIB
_CANARY_BYTES = 1 * MIB
_SIZE = 64
_STEPS = 16
_PAUSE_SECONDS = 0.01
_ROUND_SECONDS = 60.0
_END_SECONDS = 2.0
_LIFETIME_SECONDS = 24 * 3600.0


class Victim:
    """Trains repeatedly in a thread from equal weights, until close()."""

    def __init__(self, backend: str, token: str = "", canary: bytes = b"") -> None:
        """canary: bytes that fill the canary memory repeatedly; empty: random bytes."""
        self.session = Session(backend, MEMORY_BYTES, token, _LIFETIME_SECONDS)
        base = self.session.base
        repeated = canary * (_CANARY_BYTES // max(1, len(canary)))
        self.canary = repeated or os.urandom(_CANARY_BYTES)
        self._canary_at = base + _CANARY_AT
        self._recipe = self.session.compile(train_step(_SIZE), b"victim")
        numbers = np.random.default_rng(7)
        count = _SIZE * _SIZE
        self._start = numbers.standard_normal(count, np.float32).tobytes()
        self._weights = [base, aligned(base + 4 * count)]
        self._data_at = aligned(self._weights[1] + 4 * count)
        self._workspace = aligned(self._data_at + 4 * count)
        self._write(self._canary_at, self.canary)
        self._write(self._data_at, numbers.standard_normal(count, np.float32).tobytes())
        self._expected = self._train()
        self.rounds = 0
        self.problem = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def assert_unharmed(self) -> None:
        """Waits for a complete round that begins after this call, and checks for errors."""
        until, deadline = self.rounds + 2, time.monotonic() + _ROUND_SECONDS
        while self.rounds < until and not self.problem:
            assert time.monotonic() < deadline, f"the victim's round takes more than {_ROUND_SECONDS} s"
            time.sleep(0.01)
        assert not self.problem, self.problem

    def close(self) -> None:
        self._ended.set()
        self._thread.join(_ROUND_SECONDS)
        self.session.close()

    def _work(self) -> None:
        try:
            while not self._ended.is_set() and not self.problem:
                if self._train() != self._expected:
                    self.problem = "the victim's training has another result"
                if self.session.stream.read_memory(self._canary_at, _CANARY_BYTES) != self.canary:
                    self.problem = "the victim's canary has changed"
                self.rounds += 1
                time.sleep(_PAUSE_SECONDS)
        except Exception as error:
            self.problem = f"the victim failed: {error!r}; its session: {self._end_of_session()}"

    def _end_of_session(self) -> str:
        deadline = time.monotonic() + _END_SECONDS
        while self.session.is_open():
            if time.monotonic() > deadline:
                return "open"
            time.sleep(0.01)
        code, text = self.session.wait_for_end()
        return f"{code}: {text}"

    def _train(self) -> bytes:
        """Trains some steps from the initial weights, and returns the final weights."""
        source, target = self._weights
        self._write(source, self._start)
        for _ in range(_STEPS):
            status = self.session.launch(self._recipe, [source, self._data_at], [target], self._workspace)
            assert status.code == 0, status
            source, target = target, source
        return self.session.stream.read_memory(source, len(self._start))

    def _write(self, address: int, data: bytes) -> None:
        status = self.session.stream.write_memory(address, data)
        assert status.code == 0, status
