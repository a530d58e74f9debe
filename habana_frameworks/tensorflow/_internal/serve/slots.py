"""Limit on session processes without a module. Further connections wait in a queue."""

from __future__ import annotations

import asyncio
import collections


class Slots:
    """A fixed number of slots. Any object can be a holder; a holder has one slot. Belongs to one event loop."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._holders: set[object] = set()
        self._waiters: collections.deque[tuple[object, asyncio.Future[None]]] = collections.deque()

    async def enter(self, holder: object) -> None:
        """Waits for a slot."""
        if not self._waiters and len(self._holders) < self._limit:
            self._holders.add(holder)
            return
        granted = asyncio.get_running_loop().create_future()
        self._waiters.append((holder, granted))
        try:
            await granted
        except asyncio.CancelledError:
            self.discard(holder)
            raise

    def add(self, holder: object) -> None:
        """Occupies a slot without waiting, even beyond the limit."""
        self._holders.add(holder)

    def discard(self, holder: object) -> None:
        """Frees the holder's slot, if any, for the next waiter in the queue."""
        self._holders.discard(holder)
        while self._waiters and len(self._holders) < self._limit:
            waiting, granted = self._waiters.popleft()
            if not granted.done():
                self._holders.add(waiting)
                granted.set_result(None)
