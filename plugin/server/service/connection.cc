#include "plugin/server/service/connection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/server/confinement.h"
#include "plugin/server/service/communicator_call.h"
#include "plugin/server/service/recipe_call.h"
#include "plugin/server/service/run_call.h"

namespace hpu::serve {
namespace {

constexpr uint32_t kFirstVersion = 1;
constexpr uint32_t kLastVersion = 1;
constexpr int32_t kLeaseMs = 8000;
constexpr int32_t kReadPollMs = 500;
constexpr int32_t kFirstMessageMs = 10'000;
constexpr int kMaxReleases = 4096;
// Private memory besides device memory, recipes and data in transfer: gRPC, thread stacks, the heap.
constexpr uint64_t kOwnBytes = uint64_t{8} << 30;
// gRPC sends the message in a header; clients accept headers of at most 8 KiB.
constexpr size_t kMaxMessageBytes = 2000;

// The latest version that both sides support.
absl::StatusOr<uint32_t> NegotiateVersion(const proto::VersionRange& client) {
  const uint32_t version = std::min(client.last(), kLastVersion);
  if (version >= std::max(client.first(), kFirstVersion)) return version;
  return absl::FailedPreconditionError(
      absl::StrCat("no common protocol version: the client supports versions ", client.first(), " to ", client.last(),
                   ", this server ", kFirstVersion, " to ", kLastVersion, "; use matching releases of hpu-tensorflow"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Create(ConnectionOptions options, Front* front,
                                                               const hpu_rpc_api* api,
                                                               std::function<void()> on_session_end) {
  HPU_ASSIGN_OR_RETURN(hal::Backend * backend, hal::GetBackend(options.backend));
  return std::unique_ptr<Connection>(
      new Connection(std::move(options), backend, front, api, std::move(on_session_end)));
}

Connection::Connection(ConnectionOptions options, hal::Backend* backend, Front* front, const hpu_rpc_api* api,
                       std::function<void()> on_session_end)
    : options_(std::move(options)),
      backend_(backend),
      front_(front),
      api_(api),
      on_session_end_(std::move(on_session_end)),
      compiler_(backend, options_.compile) {}

Connection::~Connection() {
  if (session_ != nullptr) session_->Close();
}

void Connection::Serve(void* self, hpu_rpc_server_call* rpc_call, const char* method) {
  auto* connection = static_cast<Connection*>(self);
  const hpu_rpc_api* const api = connection->api_;
  ServerCall call(api, rpc_call);
  absl::Status status = connection->Authorize(api->authorization(rpc_call));
  if (status.ok()) status = connection->Dispatch(&call, method);
  if (!status.ok()) connection->front_->ReportRefusal(method, status);
  const absl::string_view message = status.message().substr(0, kMaxMessageBytes);
  api->finish(rpc_call, static_cast<int32_t>(status.code()), message.data(), message.size());
}

absl::Status Connection::Authorize(absl::string_view authorization) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (authorized_ && authorization_ == authorization) return absl::OkStatus();
  }
  HPU_RETURN_IF_ERROR(front_->Authorize(authorization));
  std::lock_guard<std::mutex> lock(mutex_);
  authorized_ = true;
  authorization_ = std::string(authorization);
  return absl::OkStatus();
}

absl::Status Connection::Dispatch(ServerCall* call, absl::string_view method) {
  absl::string_view name = method;
  if (absl::ConsumePrefix(&name, "/hpu.device.v1.DeviceService/")) {
    if (name == "Describe") return ServeDescribe(call);
    if (name == "Hold") return ServeHold(call);
    if (name == "Run") return ServeRun(call);
    if (name == "MakeRecipe") return ServeMakeRecipe(call);
    if (name == "MakeCommunicator") return ServeMakeCommunicator(call);
  }
  return absl::UnimplementedError(absl::StrCat("unknown method ", method, "; use matching releases of hpu-tensorflow"));
}

absl::Status Connection::ServeDescribe(ServerCall* call) {
  proto::DescribeRequest request;
  HPU_RETURN_IF_ERROR(call->Read(&request, kFirstMessageMs).status());
  HPU_ASSIGN_OR_RETURN(const proto::DescribeResponse response, front_->Describe());
  call->Write(response);
  return absl::OkStatus();
}

absl::Status Connection::Acquire(const proto::Acquire& request) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (claimed_) {
      return absl::FailedPreconditionError(
          "this connection already has its session; open a new connection for another session");
    }
    claimed_ = true;
  }
  absl::StatusOr<Front::ClaimedModule> claimed = front_->Claim(request);
  absl::StatusOr<std::shared_ptr<Session>> session = claimed.ok() ? CreateSession(request, *claimed) : claimed.status();
  if (claimed.ok() && !session.ok()) front_->Release();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!session.ok()) {
    // The client may retry, unless it has already claimed a module.
    claimed_ = claimed.ok();
    return session.status();
  }
  token_ = claimed->session;
  session_ = *std::move(session);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Session>> Connection::CreateSession(const proto::Acquire& request,
                                                                   const Front::ClaimedModule& claimed) {
  hal::AcquireOptions options;
  options.module_id = claimed.module_id;
  options.is_claimed = true;
  options.memory_bytes = request.memory_bytes();
  if (const uint64_t max = options_.limits.memory_bytes; max > 0) {
    options.memory_bytes = options.memory_bytes == 0 ? max : std::min(options.memory_bytes, max);
  }
  std::vector<std::string> entries(request.faults().begin(), request.faults().end());
  entries.insert(entries.end(), options_.faults.begin(), options_.faults.end());
  entries.push_back(absl::StrCat("session=", claimed.session_number));
  HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Parse(entries));
  options.faults = std::move(entries);
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Device> device, backend_->Acquire(options));
  if (options_.limits_process) {
    LimitMemory(device->info().memory_bytes + options_.limits.recipe_bytes + options_.limits.in_flight_bytes +
                kOwnBytes);
  }
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                       Session::Create(std::move(device), options_.limits, std::move(faults)));
  if (options_.share_memory) {
    absl::Status shared = session->ShareMemory();
    shared.Update(shared.ok() ? front_->Share(*session->shared_memory()) : absl::OkStatus());
    if (!shared.ok()) {
      HPU_LOG(kBackend, kWarning) << "copies go through the socket, because sharing memory with the client failed: "
                                  << shared;
    }
  }
  return session;
}

proto::HoldResponse Connection::AcquiredResponse(uint32_t version, const Session& session,
                                                 const std::string& token) const {
  const hal::DeviceInfo& info = session.info();
  proto::HoldResponse response;
  proto::Acquired& acquired = *response.mutable_acquired();
  acquired.set_version(version);
  acquired.set_session(token);
  acquired.set_module_id(info.module_id);
  acquired.set_memory_bytes(info.memory_bytes);
  acquired.set_type(info.type);
  acquired.set_description(info.description);
  // Separates the recipes of different servers in a shared cache.
  acquired.set_compiler_target(absl::StrCat(info.compiler_target, "; server-key ", options_.seal_key_id));
  acquired.set_lease_ms(kLeaseMs);
  acquired.set_base_address(Session::kBaseAddress);
  if (session.shared_memory() != nullptr) acquired.set_shared_memory_bytes(session.shared_memory()->size());
  if (session.forms_communicators()) acquired.set_network(options_.network);
  return response;
}

absl::Status Connection::ServeHold(ServerCall* call) {
  proto::HoldRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_acquire()) {
    return absl::InvalidArgumentError(
        "the first message of Hold must be an Acquire; use matching releases of hpu-tensorflow");
  }
  HPU_ASSIGN_OR_RETURN(const uint32_t version, NegotiateVersion(request.acquire().versions()));
  HPU_RETURN_IF_ERROR(Acquire(request.acquire()));
  const std::shared_ptr<Session> session = CurrentSession();
  call->Write(AcquiredResponse(version, *session, token_));
  const absl::Status status = KeepSession(call, *session);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  session->EndCalls();
  front_->Release();
  on_session_end_();
  return status;
}

absl::Status Connection::KeepSession(ServerCall* call, Session& session) {
  const proto::HoldResponse sign_of_life;
  proto::HoldRequest request;
  for (int32_t silent_ms = 0;;) {
    if (const absl::Status end = session.end(); !end.ok()) return end;
    const absl::StatusOr<bool> more = call->Read(&request, kReadPollMs);
    if (absl::IsDeadlineExceeded(more.status())) {
      silent_ms += kReadPollMs;
      if (silent_ms < kLeaseMs) continue;
      return absl::UnavailableError(
          absl::StrCat("the client was silent for ", kLeaseMs,
                       " ms, so the server ended the session; check the client process and the network"));
    }
    silent_ms = 0;
    HPU_RETURN_IF_ERROR(more.status());
    if (!*more) return absl::OkStatus();
    if (request.has_acquire()) {
      return absl::InvalidArgumentError(
          "Hold: only the first message may be an Acquire; use matching releases of hpu-tensorflow");
    }
    if (const int releases = request.forget_marks_size() + request.forget_recipes_size(); releases > kMaxReleases) {
      return absl::InvalidArgumentError(absl::StrCat("Hold: a message releases ", releases, " handles; the maximum is ",
                                                     kMaxReleases, "; use matching releases of hpu-tensorflow"));
    }
    for (const proto::Forget& forget : request.forget_marks()) {
      HPU_RETURN_IF_ERROR(session.events().Release(forget.handle(), forget.uses()));
    }
    for (const proto::Forget& forget : request.forget_recipes()) {
      HPU_RETURN_IF_ERROR(session.recipes().Release(forget.handle(), forget.uses()));
    }
    if (session.faults().Count(common::Faults::kSilence).ok()) call->Write(sign_of_life);
  }
}

std::shared_ptr<Session> Connection::CurrentSession() {
  std::lock_guard<std::mutex> lock(mutex_);
  return session_;
}

absl::StatusOr<std::shared_ptr<Session>> Connection::Find(absl::string_view token) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (session_ == nullptr || over_ || token != token_) {
    return absl::NotFoundError("the session does not exist or has ended; acquire a module in a new session");
  }
  return session_;
}

proto::Module Connection::Report() {
  proto::Module module;
  if (const std::shared_ptr<Session> session = CurrentSession(); session != nullptr) session->Describe(&module);
  return module;
}

void Connection::CheckLaunchTime() {
  const std::shared_ptr<Session> session = CurrentSession();
  if (session == nullptr || options_.launch_timeout.count() == 0) return;
  if (session->device().longest_launch() < options_.launch_timeout) return;
  session->End(absl::DeadlineExceededError(
      absl::StrCat("a launch ran longer than ", options_.launch_timeout.count(),
                   " s (hpu serve --launch-timeout); check the program for an endless loop, or raise the limit")));
}

absl::Status Connection::ServeRun(ServerCall* call) {
  proto::RunRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_open()) {
    return absl::InvalidArgumentError(
        "the first message of Run must be an OpenStream; use matching releases of hpu-tensorflow");
  }
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(request.open().session()));
  HPU_ASSIGN_OR_RETURN(const Session::Share share, Session::Enter(session, call));
  RunCall run(call, session);
  HPU_RETURN_IF_ERROR(run.Open(request.open()));
  request.clear_open();
  HPU_RETURN_IF_ERROR(run.Execute(request));
  for (;;) {
    HPU_ASSIGN_OR_RETURN(const bool more, call->Read(&request));
    if (!more) return absl::OkStatus();
    HPU_RETURN_IF_ERROR(run.Execute(request));
  }
}

absl::Status Connection::ServeMakeRecipe(ServerCall* call) {
  proto::MakeRecipeRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_header() || !request.chunk().empty()) {
    return absl::InvalidArgumentError(
        "the first message of MakeRecipe must contain only a header; use matching releases of hpu-tensorflow");
  }
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(request.header().session()));
  HPU_ASSIGN_OR_RETURN(const Session::Share share, Session::Enter(session, call));
  return serve::ServeMakeRecipe(call, session.get(), front_, &compiler_, request.header());
}

absl::Status Connection::ServeMakeCommunicator(ServerCall* call) {
  proto::MakeCommunicatorRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_header()) {
    return absl::InvalidArgumentError(
        "the first message of MakeCommunicator must be a header; use matching releases of hpu-tensorflow");
  }
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(request.header().session()));
  HPU_ASSIGN_OR_RETURN(const Session::Share share, Session::Enter(session, call));
  return ServeCommunicator(call, session.get(), front_, request.header());
}

}  // namespace hpu::serve
