"""Handles the session processes' messages (control.proto) in the front process."""

from __future__ import annotations

import fcntl
import logging
import secrets
from collections.abc import Callable, Iterator

from google.protobuf.message import DecodeError

from habana_frameworks.tensorflow._internal.messages import control_pb2 as pb
from habana_frameworks.tensorflow._internal.messages import device_pb2
from habana_frameworks.tensorflow._internal.serve import modules, packets
from habana_frameworks.tensorflow._internal.serve.access import Access
from habana_frameworks.tensorflow._internal.serve.description import Description
from habana_frameworks.tensorflow._internal.serve.faults import BusyFaults
from habana_frameworks.tensorflow._internal.serve.groups import GroupTable
from habana_frameworks.tensorflow._internal.serve.refusals import RefusalLog
from habana_frameworks.tensorflow._internal.serve.seals import RecipeSeal
from habana_frameworks.tensorflow._internal.serve.session_process import Claim, RuleError, SessionProcess
from habana_frameworks.tensorflow._internal.serve.settings import ServerSettings
from habana_frameworks.tensorflow._internal.serve.slots import Slots
from habana_frameworks.tensorflow._internal.serve.status import Code, StatusError
from habana_frameworks.tensorflow._internal.version import REPORT_BUG

_logger = logging.getLogger(__name__)
SESSION_BYTES = 16
_MAX_SHARED_BYTES = 64 << 20
_SIZE_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


class FrontService:
    """Answers the messages of all session processes. Belongs to one event loop."""

    def __init__(
        self,
        settings: ServerSettings,
        access: Access,
        refusals: RefusalLog,
        fork_server_pid: Callable[[], int | None],
        slots: Slots,
    ) -> None:
        """slots: held by processes without a module. Raises StatusError for invalid settings."""
        self._settings = settings
        self._access = access
        self._refusals = refusals
        self._slots = slots
        self._processes: set[SessionProcess] = set()
        self._modules = modules.ModuleTable(settings.modules, shows_commands=bool(settings.path))
        self._groups = GroupTable()
        self._busy = BusyFaults(settings.faults)
        self.seal = RecipeSeal(settings.recipe_key)
        self._description = Description(settings, self.processes, fork_server_pid)

    def processes(self) -> Iterator[SessionProcess]:
        """All running session processes."""
        return iter(tuple(self._processes))

    def end_oldest_idle(self, seconds: float) -> None:
        """Kills the longest idle process, which frees its slot, if its idle time exceeds `seconds`."""
        oldest = max(self._processes, key=lambda process: process.idle_seconds, default=None)
        if oldest is not None and oldest.idle_seconds > seconds:
            oldest.kill("")

    def add(self, process: SessionProcess) -> None:
        """Adds a new process, which holds no module yet."""
        self._processes.add(process)
        self._slots.add(process)

    def shared_memory(self, session: bytes) -> packets.File:
        """Returns the shared memory of the session with this name. Raises StatusError if the session has none."""
        for process in self._processes:
            claim = process.claim
            if claim is not None and secrets.compare_digest(claim.session, session):
                if claim.memory is None:
                    raise StatusError(Code.FAILED_PRECONDITION, "the session has no shared memory")
                return claim.memory
        raise StatusError(Code.NOT_FOUND, "the session does not exist or has ended; acquire a module in a new session")

    def handle(self, process: SessionProcess, message: pb.ToFront, file: packets.File | None) -> None:
        kind = message.WhichOneof("kind")
        if (file is not None) != (kind in ("share", "join_group")):
            raise RuleError(
                f"a message of kind {kind} arrived with{'out its' if file is None else ' an unexpected'} file"
            )
        try:
            if kind == "claim":
                process.reply_later(message.number, self._claim(process, message.claim))
            elif kind == "describe":
                process.reply_later(message.number, self._describe(process))
            elif kind == "join_group":
                assert file is not None
                self._check_session(process)
                self._groups.join(process, message.number, message.join_group, file)
            else:
                process.reply(message.number, self._answer(process, message, kind, file))
        except StatusError as error:
            process.refuse(message.number, error)

    def ended(self, process: SessionProcess) -> None:
        self._processes.discard(process)
        self._release(process)
        self._slots.discard(process)

    def _answer(
        self, process: SessionProcess, message: pb.ToFront, kind: str | None, file: packets.File | None
    ) -> pb.ToSession:
        """Handles a message that can be answered immediately."""
        answer = pb.ToSession(status=pb.Status())
        if kind == "authorize":
            self._access.check(message.authorize.authorization)
            process.authorize()
        elif kind == "release":
            process.end_soon()
            self._release(process)
        elif kind == "report":
            self._take_report(process, message.report)
        elif kind == "share":
            assert file is not None
            self._share(process, message.share, file)
        elif kind == "seal":
            answer.sealed.seal = self._seal(process, message.seal)
        elif kind == "leave_group":
            self._groups.leave(process, message.leave_group.id, message.leave_group.rank, message.leave_group.reason)
        elif kind == "refused":
            method, status = message.refused.method, message.refused.status
            text = status.message.decode(errors="replace")
            self._refusals.add_call(process.peer, method.decode(errors="replace"), status.code, text)
        else:
            raise RuleError("a message of unknown kind arrived")
        return answer

    async def _claim(self, process: SessionProcess, message: pb.Claim) -> pb.ToSession:
        """Claims a module for the process and opens its session. Raises StatusError."""
        self._check_authorized(process)
        try:
            request = device_pb2.Acquire.FromString(message.acquire)
        except DecodeError:
            raise StatusError(
                Code.INVALID_ARGUMENT,
                "the Acquire request cannot be parsed: install the same release on client and server",
            ) from None
        modules.check_bounds(request)
        if request.faults and not self._settings.allow_faults:
            raise StatusError(
                Code.FAILED_PRECONDITION,
                "HPU_FAULTS is set, but this server does not inject faults for clients: unset HPU_FAULTS, or start hpu "
                "serve --allow-faults",
            )
        self._check_may_claim(process)
        self._busy.count()
        module_id = await self._modules.claim(request)
        if process.has_claimed or not process.alive:
            self._modules.release(module_id)
            self._check_may_claim(process)
            raise StatusError(Code.CANCELLED, "the session process has ended")
        process.has_claimed = True
        self._description.sessions_opened += 1
        process.claim = Claim(
            module_id,
            self._description.sessions_opened,
            secrets.token_bytes(SESSION_BYTES),
            modules.Holder.of(request.holder),
            device_pb2.Module(memory_bytes=self._memory_bytes(request)),
        )
        self._slots.discard(process)
        _logger.info("module %d is assigned to pid %d", module_id, request.holder.pid)
        claim = process.claim
        claimed = pb.Claimed(module_id=module_id, session_number=claim.number, session=claim.session)
        return pb.ToSession(status=pb.Status(), claimed=claimed)

    async def _describe(self, process: SessionProcess) -> pb.ToSession:
        self._check_authorized(process)
        response = await self._description.describe()
        return pb.ToSession(status=pb.Status(), modules=response.SerializeToString())

    def _take_report(self, process: SessionProcess, report: bytes) -> None:
        try:
            self._description.take_report(process, device_pb2.Module.FromString(report))
        except DecodeError:
            raise RuleError("the session's report cannot be parsed") from None

    def _share(self, process: SessionProcess, share: pb.Share, file: packets.File) -> None:
        """Stores a session's shared memory, so that its client can fetch it from the memory socket."""
        self._check_session(process)
        assert process.claim is not None
        if not self._settings.share_memory or process.claim.memory is not None:
            raise RuleError("the session sent shared memory that the server did not request")
        if share.bytes > _MAX_SHARED_BYTES:
            raise RuleError(f"the session's shared memory has {share.bytes} bytes, limit {_MAX_SHARED_BYTES}")
        if file.size() != share.bytes:
            raise RuleError(f"the session's shared memory has {file.size()} bytes, expected {share.bytes}")
        if file.seals() & _SIZE_SEALS != _SIZE_SEALS:
            raise RuleError("the size of the session's shared memory is not sealed (F_SEAL_SHRINK, F_SEAL_GROW)")
        process.claim.memory = packets.File(file.detach())

    def _seal(self, process: SessionProcess, request: pb.Seal) -> bytes:
        self._check_session(process)
        seal = self.seal.seal(request.digest)
        if request.seal:
            self.seal.check(request.digest, request.seal)
        return seal

    def _release(self, process: SessionProcess) -> None:
        """Frees the module and other resources of the process's session. Repeated calls have no effect."""
        self._description.forget(process)
        self._groups.remove(process)
        claim, process.claim = process.claim, None
        if claim is None:
            return
        if claim.memory is not None:
            claim.memory.close()
        self._description.sessions_closed += 1
        self._modules.release(claim.module_id)
        self._slots.add(process)
        _logger.info("module %d is free again", claim.module_id)

    def _memory_bytes(self, request: device_pb2.Acquire) -> int:
        """Expected device memory of the session in bytes, used until the session's first report."""
        asked, limit = request.memory_bytes, self._settings.limits.memory_bytes
        if limit:
            return min(asked or limit, limit)
        return asked or self._settings.default_memory_bytes

    def _check_authorized(self, process: SessionProcess) -> None:
        if not process.authorized:
            raise StatusError(Code.UNAUTHENTICATED, f"the connection is not authorized; {REPORT_BUG}")

    def _check_may_claim(self, process: SessionProcess) -> None:
        if process.has_claimed:
            raise StatusError(
                Code.FAILED_PRECONDITION,
                "a connection can have only one session: open a new connection for another session",
            )

    def _check_session(self, process: SessionProcess) -> None:
        if process.claim is None:
            raise StatusError(Code.FAILED_PRECONDITION, "the connection holds no module; claim one first")
