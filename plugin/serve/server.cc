#include "plugin/serve/server.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/backends/common/signal_mask.h"
#include "plugin/backends/remote/rpc_library.h"
#include "plugin/backends/remote/session.h"
#include "plugin/flags/flags.h"
#include "plugin/hal/status_macros.h"
#include "plugin/log/log.h"
#include "plugin/serve/communicator_call.h"
#include "plugin/serve/crypto.h"
#include "plugin/serve/recipe_call.h"
#include "plugin/serve/run_call.h"

namespace hpu::serve {
namespace {

constexpr uint32_t kFirstVersion = 1;
constexpr uint32_t kLastVersion = 1;
constexpr int32_t kLeaseMs = 8000;
constexpr int32_t kFirstMessageMs = 10'000;
constexpr int kMostVisible = 64;
constexpr int kMostFaults = 64;
constexpr int kMostForgotten = 4096;
constexpr size_t kMostCommandBytes = 200;
constexpr size_t kRecipeKeyBytes = 32;
// gRPC sends it in a header, of which clients take 8 KiB.
constexpr size_t kMostMessageBytes = 2000;

// The version that both speak.
absl::StatusOr<uint32_t> NegotiateVersion(const proto::VersionRange& client) {
  const uint32_t version = std::min(client.last(), kLastVersion);
  if (version >= std::max(client.first(), kFirstVersion)) return version;
  return absl::FailedPreconditionError(absl::StrCat(
      "the client speaks versions ", client.first(), " to ", client.last(), " of the protocol, this server ",
      kFirstVersion, " to ", kLastVersion, "; use releases of hpu-tensorflow that have one in common"));
}

absl::Status CheckBounds(const proto::Acquire& request) {
  if (request.visible_size() > kMostVisible || request.faults_size() > kMostFaults ||
      request.holder().command().size() > kMostCommandBytes) {
    return absl::InvalidArgumentError(absl::StrCat("a session is asked for with at most ", kMostVisible,
                                                   " visible modules, ", kMostFaults, " faults and ", kMostCommandBytes,
                                                   " bytes of command line"));
  }
  return absl::OkStatus();
}

hal::AcquireOptions OptionsOf(const proto::Acquire& request) {
  hal::AcquireOptions options;
  if (request.has_module_id()) options.module_id = request.module_id();
  options.visible.assign(request.visible().begin(), request.visible().end());
  options.memory_bytes = request.memory_bytes();
  options.faults.emplace(request.faults().begin(), request.faults().end());
  return options;
}

// One server a path: gRPC would take the socket of another one away.
absl::StatusOr<std::unique_ptr<files::FileLock>> LockPath(absl::string_view path) {
  const std::string name = absl::StrCat(path, ".lock");
  files::FileDescriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid())
    return absl::FailedPreconditionError(
        absl::StrCat("cannot make ", name, ": ", std::strerror(errno), "; give --listen a path that you may write to"));
  if (files::TryLock(file) != files::LockAttempt::kLocked) {
    return absl::FailedPreconditionError(absl::StrCat("process ", files::ReadHolder(file).pid, " serves at ", path,
                                                      " already: use it (HPU_BACKEND=grpc+unix:", path,
                                                      "), or give --listen another path"));
  }
  return std::make_unique<files::FileLock>(std::move(file));
}

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t all_pages = 0, resident_pages = 0;
  file >> all_pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

absl::StatusOr<RecipeSeal> SealOf(const ServerOptions& options) {
  if (options.recipe_key.empty()) {
    HPU_ASSIGN_OR_RETURN(const std::string key, RandomBytes(kRecipeKeyBytes));
    return RecipeSeal(key);
  }
  if (options.recipe_key.size() >= kRecipeKeyBytes) return RecipeSeal(options.recipe_key);
  return absl::InvalidArgumentError(
      absl::StrCat("the key for recipes has ", options.recipe_key.size(), " bytes; it has at least ", kRecipeKeyBytes));
}

void KeepError(void* status, int32_t code, const char* message, size_t size) {
  *static_cast<absl::Status*>(status) =
      absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  HPU_ASSIGN_OR_RETURN(const hpu_rpc_api* api, remote::RpcLibrary());
  return Start(std::move(options), api);
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options, const hpu_rpc_api* api) {
  HPU_ASSIGN_OR_RETURN(hal::Backend * backend, hal::GetBackend(options.backend));
  HPU_ASSIGN_OR_RETURN(const int modules, backend->ModuleCount());
  HPU_ASSIGN_OR_RETURN(const RecipeSeal seal, SealOf(options));
  HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Parse(options.faults));
  std::unique_ptr<Server> server(new Server(std::move(options), backend, modules, seal, std::move(faults), api));
  HPU_RETURN_IF_ERROR(server->compiler_.Prepare());
  HPU_RETURN_IF_ERROR(server->Listen());
  return server;
}

Server::Server(ServerOptions options, hal::Backend* backend, int modules, RecipeSeal seal, common::Faults faults,
               const hpu_rpc_api* api)
    : options_(std::move(options)),
      backend_(backend),
      seal_(std::move(seal)),
      access_(options_.tls, options_.token),
      api_(api),
      faults_(std::move(faults)),
      modules_(modules),
      compiler_(backend, options_.compile) {}

Server::~Server() {
  if (rpc_server_ != nullptr) api_->stop(rpc_server_);
}

absl::Status Server::Listen() {
  absl::string_view path = options_.address;
  HPU_RETURN_IF_ERROR(access_.CheckAddress(options_.address, *api_));
  const bool is_unix = absl::ConsumePrefix(&path, "unix:");
  if (is_unix) {
    if (!absl::StartsWith(path, "/")) return absl::InvalidArgumentError("unix: needs an absolute path");
    HPU_ASSIGN_OR_RETURN(path_lock_, LockPath(path));
    if (flags::RemoteSharedMemory()) ShareMemory(path);
  }
  const hpu_rpc_server_options options = {options_.address.c_str(), access_.tls(), &Server::Serve, &Server::LogRpcError,
                                          this};
  const common::ScopedSignalMask mask;  // for the threads of the server
  absl::Status error;
  rpc_server_ = api_->serve(&options, &KeepError, &error);
  if (rpc_server_ == nullptr) return error;
  if (is_unix) {
    spec_ = absl::StrCat("grpc+unix:", path);
  } else {
    const absl::string_view host = absl::string_view(options_.address).substr(0, options_.address.rfind(':'));
    spec_ = absl::StrCat(access_.encrypted() ? "grpcs://" : "grpc://", host, ":", api_->server_port(rpc_server_));
  }
  return absl::OkStatus();
}

void Server::LogRpcError(void*, int32_t, const char* message, size_t size) {
  HPU_LOG(kBackend, kWarning) << "gRPC: " << absl::string_view(message, size);
}

void Server::ShareMemory(absl::string_view path) {
  absl::StatusOr<std::unique_ptr<MemorySocket>> socket = MemorySocket::Open(
      absl::StrCat(path, remote::kMemorySocketSuffix), [this](const std::string& token) { return Find(token); });
  if (socket.ok()) {
    memory_socket_ = *std::move(socket);
  } else {
    HPU_LOG(kBackend, kWarning) << "copies go over the socket, no shared memory: " << socket.status();
  }
}

void Server::Serve(void* self, hpu_rpc_server_call* rpc_call, const char* method) {
  auto* server = static_cast<Server*>(self);
  ServerCall call(server->api_, rpc_call);
  absl::Status status = server->access_.Check(server->api_->authorization(rpc_call));
  if (status.ok()) status = server->Dispatch(&call, method);
  if (!status.ok()) server->refusals_.Add(server->api_->peer(rpc_call), method, status);
  const absl::string_view message = status.message().substr(0, kMostMessageBytes);
  server->api_->finish(rpc_call, static_cast<int32_t>(status.code()), message.data(), message.size());
}

absl::Status Server::Dispatch(ServerCall* call, absl::string_view method) {
  absl::string_view name = method;
  if (absl::ConsumePrefix(&name, "/hpu.device.v1.DeviceService/")) {
    if (name == "Describe") return ServeDescribe(call);
    if (name == "Hold") return ServeHold(call);
    if (name == "Run") return ServeRun(call);
    if (name == "MakeRecipe") return ServeMakeRecipe(call);
    if (name == "MakeCommunicator") return ServeMakeCommunicator(call);
  }
  return absl::UnimplementedError(absl::StrCat("this server has no method ", method));
}

absl::Status Server::ServeDescribe(ServerCall* call) {
  proto::DescribeRequest request;
  HPU_RETURN_IF_ERROR(call->Read(&request, kFirstMessageMs).status());
  proto::DescribeResponse response;
  response.mutable_versions()->set_first(kFirstVersion);
  response.mutable_versions()->set_last(kLastVersion);
  response.set_pid(static_cast<uint32_t>(getpid()));
  response.set_backend(std::string(backend_->name()));
  response.set_type(flags::DeviceType());
  HPU_ASSIGN_OR_RETURN(const uint64_t memory_bytes, common::DeviceMemoryBytes({}));
  for (int id = 0; id < modules_.size(); ++id) {
    proto::Module& module = *response.add_modules();
    module.set_id(id);
    module.set_memory_bytes(memory_bytes);
  }
  for (const std::shared_ptr<Session>& session : Sessions()) {
    session->Describe(response.mutable_modules(session->info().module_id));
  }
  response.set_sessions_opened(sessions_opened_);
  response.set_sessions_closed(sessions_closed_);
  response.set_clock_ns(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  response.set_resident_bytes(ResidentBytes());
  call->Write(response);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Session>> Server::Acquire(const proto::Acquire& request) {
  HPU_RETURN_IF_ERROR(CheckBounds(request));
  if (request.faults_size() > 0 && !options_.allow_faults) {
    return absl::FailedPreconditionError(
        "HPU_EMULATOR_FAULTS is set, and this server was not started with --allow-faults");
  }
  hal::AcquireOptions options = OptionsOf(request);
  if (const uint64_t most = options_.limits.memory_bytes; most > 0) {
    options.memory_bytes = options.memory_bytes == 0 ? most : std::min(options.memory_bytes, most);
  }
  const ModuleHolder holder = {request.holder().pid(), request.holder().command()};
  if (const absl::Status busy = faults_.Count(common::Faults::kBusy); !busy.ok()) {
    return absl::UnavailableError(absl::StrCat("no HPU module is free: ", busy.message()));
  }
  HPU_ASSIGN_OR_RETURN(const int module, modules_.Claim(options, holder));
  options.module_id = module;
  options.visible.clear();
  absl::StatusOr<std::shared_ptr<Session>> session =
      CreateSession(std::move(options), holder, sessions_opened_.fetch_add(1) + 1);
  if (!session.ok()) {
    Release(module);
    return session;
  }
  const absl::Status shared = memory_socket_ != nullptr ? (*session)->ShareMemory() : absl::OkStatus();
  if (!shared.ok()) {
    HPU_LOG(kBackend, kWarning) << "a session has no shared memory: " << shared;
  }
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> Server::CreateSession(hal::AcquireOptions options, const ModuleHolder& holder,
                                                               uint64_t number) {
  std::vector<std::string>& entries = *options.faults;
  entries.insert(entries.end(), options_.faults.begin(), options_.faults.end());
  entries.push_back(absl::StrCat("session=", number));
  HPU_ASSIGN_OR_RETURN(common::Faults faults, common::Faults::Parse(entries));
  HPU_ASSIGN_OR_RETURN(std::unique_ptr<hal::Device> device, backend_->Acquire(options));
  return Session::Create(std::move(device), holder, number, options_.limits, std::move(faults));
}

absl::Status Server::ServeHold(ServerCall* call) {
  proto::HoldRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_acquire()) return absl::InvalidArgumentError("Hold begins with an Acquire");
  HPU_ASSIGN_OR_RETURN(const uint32_t version, NegotiateVersion(request.acquire().versions()));
  HPU_ASSIGN_OR_RETURN(const std::string token, RandomBytes(Session::kTokenBytes));
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Acquire(request.acquire()));
  const hal::DeviceInfo info = session->info();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_.emplace(token, session);
  }
  HPU_LOG(kBackend, kInfo) << "module " << info.module_id << " goes to pid " << request.acquire().holder().pid();
  proto::HoldResponse response;
  proto::Acquired& acquired = *response.mutable_acquired();
  acquired.set_version(version);
  acquired.set_session(token);
  acquired.set_module_id(info.module_id);
  acquired.set_memory_bytes(info.memory_bytes);
  acquired.set_type(info.type);
  acquired.set_description(info.description);
  // A cache that clients of several servers share keeps their recipes apart.
  acquired.set_compiler_target(absl::StrCat(info.compiler_target, "; server-key ", seal_.key_id()));
  acquired.set_lease_ms(kLeaseMs);
  acquired.set_base_address(Session::kBaseAddress);
  if (session->shared_memory() != nullptr) acquired.set_shared_memory_bytes(session->shared_memory()->size());
  if (const absl::StatusOr<std::string> id = session->device().CreateCommunicatorId(); id.ok()) {
    acquired.set_fabric(id->substr(0, id->find(':')));
  }
  call->Write(response);
  const absl::Status status = KeepSession(call, *session);
  Remove(token, session);
  HPU_LOG(kBackend, kInfo) << "module " << info.module_id << " is free again: " << status;
  return status;
}

absl::Status Server::KeepSession(ServerCall* call, Session& session) {
  const proto::HoldResponse sign_of_life;
  proto::HoldRequest request;
  for (;;) {
    const absl::StatusOr<bool> more = call->Read(&request, kLeaseMs);
    if (absl::IsDeadlineExceeded(more.status())) {
      return absl::UnavailableError(absl::StrCat("the client was silent for ", kLeaseMs, " ms"));
    }
    HPU_RETURN_IF_ERROR(more.status());
    if (!*more) return absl::OkStatus();
    if (request.has_acquire() || request.forget_marks_size() + request.forget_recipes_size() > kMostForgotten) {
      return absl::InvalidArgumentError("a second Acquire, or too many handles at once");
    }
    for (const proto::Forget& forget : request.forget_marks()) {
      HPU_RETURN_IF_ERROR(session.marks().Forget(forget.handle(), forget.uses()));
    }
    for (const proto::Forget& forget : request.forget_recipes()) {
      HPU_RETURN_IF_ERROR(session.recipes().Forget(forget.handle(), forget.uses()));
    }
    if (session.faults().Count(common::Faults::kSilence).ok()) call->Write(sign_of_life);
  }
}

std::vector<std::shared_ptr<Session>> Server::Sessions() {
  std::vector<std::shared_ptr<Session>> sessions;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [token, session] : sessions_) sessions.push_back(session);
  return sessions;
}

absl::StatusOr<std::shared_ptr<Session>> Server::Find(const std::string& token) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = sessions_.find(token);
  if (found == sessions_.end()) return absl::NotFoundError("there is no such session (any more)");
  return found->second;
}

void Server::Remove(const std::string& token, const std::shared_ptr<Session>& session) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(token);
  }
  session->Close();
  Release(session->info().module_id);
}

void Server::Release(int module_id) {
  modules_.Release(module_id);
  sessions_closed_.fetch_add(1);
}

absl::Status Server::ServeRun(ServerCall* call) {
  proto::RunRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_open()) return absl::InvalidArgumentError("Run begins with an OpenStream");
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

absl::Status Server::ServeMakeRecipe(ServerCall* call) {
  proto::MakeRecipeRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_header() || !request.chunk().empty()) {
    return absl::InvalidArgumentError("MakeRecipe begins with a header, alone");
  }
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(request.header().session()));
  HPU_ASSIGN_OR_RETURN(const Session::Share share, Session::Enter(session, call));
  return serve::ServeMakeRecipe(call, session.get(), seal_, &compiler_, request.header());
}

absl::Status Server::ServeMakeCommunicator(ServerCall* call) {
  proto::MakeCommunicatorRequest request;
  HPU_ASSIGN_OR_RETURN(const bool first, call->Read(&request, kFirstMessageMs));
  if (!first || !request.has_header()) return absl::InvalidArgumentError("MakeCommunicator begins with a header");
  HPU_ASSIGN_OR_RETURN(const std::shared_ptr<Session> session, Find(request.header().session()));
  HPU_ASSIGN_OR_RETURN(const Session::Share share, Session::Enter(session, call));
  return ServeCommunicator(call, session.get(), request.header());
}

}  // namespace hpu::serve
