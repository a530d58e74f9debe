#include "plugin/server/service/session_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "plugin/backends/remote/rpc_library.h"
#include "plugin/base/log/files.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_macros.h"
#include "plugin/server/compile_workers/compile_fork_server.h"
#include "plugin/server/confinement.h"
#include "plugin/server/fork_server.h"
#include "plugin/server/service/connection.h"
#include "plugin/server/service/front_channel.h"

namespace hpu::serve {
namespace {

constexpr int kTickMs = 1000;
// Time for calls that end with the session to send their status.
constexpr int32_t kGraceMs = 500;

[[noreturn]] void EndWithError(const absl::Status& status) {
  HPU_LOG(kBackend, kError) << "cannot start a session process: " << status;
  _exit(1);
}

ConnectionOptions OptionsOf(const control::Options& options) {
  ConnectionOptions result;
  result.backend = options.backend();
  result.allow_faults = options.allow_faults();
  result.faults.assign(options.faults().begin(), options.faults().end());
  result.share_memory = options.share_memory();
  result.seal_key_id = options.seal_key_id();
  result.network = options.network();
  result.launch_timeout = std::chrono::seconds(options.launch_timeout_seconds());
  const auto set = [](uint64_t value, uint64_t* limit) {
    if (value > 0) *limit = value;
  };
  set(options.max_memory_bytes(), &result.limits.memory_bytes);
  set(options.max_recipes(), &result.limits.recipes);
  set(options.max_recipe_bytes(), &result.limits.recipe_bytes);
  set(options.max_in_flight_bytes(), &result.limits.in_flight_bytes);
  result.limits_process = options.confine();
  result.compile.max_workers = options.max_compile_workers();
  if (options.compile_timeout_seconds() > 0) {
    result.compile.timeout = std::chrono::seconds(options.compile_timeout_seconds());
  }
  return result;
}

class SessionProcess {
 public:
  SessionProcess(const control::Options& options, files::FileDescriptor connection, files::FileDescriptor control)
      : options_(options), client_(std::move(connection)), over_(eventfd(0, EFD_CLOEXEC)) {
    const absl::StatusOr<hal::Backend*> backend = hal::GetBackend(options_.backend());
    if (!backend.ok()) EndWithError(backend.status());
    ConnectionOptions connection_options = OptionsOf(options_);
    CompileForkServerOptions compile;
    compile.backend = *backend;
    compile.timeout = connection_options.compile.timeout;
    compile.confine = options_.confine();
    compile.not_inherited = {client_.get(), control.get(), over_.get()};
    absl::StatusOr<std::unique_ptr<ForkClient>> fork_server = StartCompileForkServer(compile);
    if (!fork_server.ok()) EndWithError(fork_server.status());
    compile_fork_server_ = *std::move(fork_server);
    connection_options.compile.fork_server = compile_fork_server_.get();
    front_ = std::make_unique<FrontChannel>(
        std::move(control),
        FrontChannel::Handlers{[this] { return connection_ == nullptr ? proto::Module() : connection_->Report(); },
                               [] { EndChild(); }});
    const absl::Status served = Serve(std::move(connection_options));
    if (!served.ok()) EndWithError(served);
  }

  // Runs until the client, the front process or the session is gone.
  [[noreturn]] void Run() {
    for (;;) {
      pollfd files[] = {{client_.get(), POLLRDHUP, 0}, {over_.get(), POLLIN, 0}};
      static_cast<void>(poll(files, 2, options_.launch_timeout_seconds() > 0 ? kTickMs : -1));
      if (files[0].revents != 0) EndChild();
      if (files[1].revents != 0) break;
      connection_->CheckLaunchTime();
    }
    // On its own thread, because calls may wait for work that never ends.
    std::thread([this] {
      api_->drain(server_, kGraceMs);
      EndChild();
    }).detach();
    const timespec grace = {1, 0};
    nanosleep(&grace, nullptr);
    EndChild();
  }

 private:
  absl::Status Serve(ConnectionOptions options) {
    HPU_ASSIGN_OR_RETURN(api_, remote::RpcLibrary());
    HPU_ASSIGN_OR_RETURN(connection_, Connection::Create(std::move(options), front_.get(), api_, [this] {
                           const uint64_t one = 1;
                           static_cast<void>(!write(over_.get(), &one, sizeof(one)));
                         }));
    const hpu_rpc_server_options server_options = {&Connection::Serve, &LogRpcError, connection_.get()};
    absl::Status error;
    server_ = api_->serve(&server_options, &KeepError, &error);
    if (server_ == nullptr) return error;
    // Confines the process after gRPC has inspected the machine, and before gRPC reads the client's first byte.
    if (options_.confine()) HPU_RETURN_IF_ERROR(Confine(Role::kComputes));
    api_->serve_connection(server_, dup(client_.get()));
    return absl::OkStatus();
  }

  static void LogRpcError(void*, int32_t, const char* message, size_t size) {
    HPU_LOG(kBackend, kWarning) << "gRPC: " << absl::string_view(message, size);
  }
  static void KeepError(void* status, int32_t code, const char* message, size_t size) {
    *static_cast<absl::Status*>(status) =
        absl::Status(static_cast<absl::StatusCode>(code), absl::string_view(message, size));
  }

  const control::Options& options_;
  const files::FileDescriptor client_;
  const files::FileDescriptor over_;  // readable once the session is over
  const hpu_rpc_api* api_ = nullptr;
  hpu_rpc_server* server_ = nullptr;
  std::unique_ptr<ForkClient> compile_fork_server_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<FrontChannel> front_;
};

}  // namespace

void RunSessionProcess(const control::Options& options, files::FileDescriptor connection,
                       files::FileDescriptor control) {
  IsolateProcess();
  // A confined process cannot open files, so the time zone is read now and the log file is not appended to.
  tzset();
  log::StopAppending();
  // Never destroyed: its threads run until the process ends.
  (new SessionProcess(options, std::move(connection), std::move(control)))->Run();
}

}  // namespace hpu::serve
