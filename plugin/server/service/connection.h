// Connection: connection of one client, with its calls (proto/hpu/device/v1) and its session.
#ifndef HPU_PLUGIN_SERVER_SERVICE_CONNECTION_H_
#define HPU_PLUGIN_SERVER_SERVICE_CONNECTION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/hal/backend.h"
#include "plugin/server/compile_workers/program_compiler.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/server_call.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

struct ConnectionOptions {
  std::string backend = "emulator";  // backend of the served modules
  bool allow_faults = false;         // whether clients may inject errors (HPU_FAULTS)
  std::vector<std::string> faults;   // for every session, in the syntax of common::Faults
  bool share_memory = false;         // share memory with a client on the same machine
  std::string seal_key_id;           // id of the key that signs recipes
  std::string network;               // name of the network; its sessions can form communicators
  SessionLimits limits;
  bool limits_process = false;  // whether this process is limited to the session's memory
  CompileOptions compile;
  // A longer launch ends the session; 0: no limit.
  std::chrono::seconds launch_timeout{0};
};

// Serves at most one session. Thread safe.
class Connection {
 public:
  // `front` and `api` must outlive the connection. `on_session_end` runs at the end of the session's Hold call, after
  // the module is released and before the call's status is sent. The connection serves no other session.
  static absl::StatusOr<std::unique_ptr<Connection>> Create(ConnectionOptions options, Front* front,
                                                            const hpu_rpc_api* api,
                                                            std::function<void()> on_session_end);
  // No call may be running.
  ~Connection();

  // An hpu_rpc_serve_call whose context is a Connection.
  static void Serve(void* self, hpu_rpc_server_call* call, const char* method);

  // State of the session; empty without a session.
  proto::Module Report();
  // Ends the session with DeadlineExceeded if a launch has run longer than the limit.
  void CheckLaunchTime();

 private:
  Connection(ConnectionOptions options, hal::Backend* backend, Front* front, const hpu_rpc_api* api,
             std::function<void()> on_session_end);

  absl::Status Authorize(absl::string_view authorization);
  absl::Status Dispatch(ServerCall* call, absl::string_view method);
  absl::Status ServeDescribe(ServerCall* call);
  absl::Status ServeHold(ServerCall* call);
  absl::Status ServeRun(ServerCall* call);
  absl::Status ServeMakeRecipe(ServerCall* call);
  absl::Status ServeMakeCommunicator(ServerCall* call);

  // Claims a module and creates the session.
  absl::Status Acquire(const proto::Acquire& request);
  absl::StatusOr<std::shared_ptr<Session>> CreateSession(const proto::Acquire& request,
                                                         const Front::ClaimedModule& claimed);
  proto::HoldResponse AcquiredResponse(uint32_t version, const Session& session, const std::string& token) const;
  // Answers keepalives and processes released handles. Returns when the client ends the call or is silent for kLeaseMs,
  // or when the session fails.
  absl::Status KeepSession(ServerCall* call, Session& session);
  absl::StatusOr<std::shared_ptr<Session>> Find(absl::string_view token);
  std::shared_ptr<Session> CurrentSession();

  const ConnectionOptions options_;
  hal::Backend* const backend_;
  Front* const front_;
  const hpu_rpc_api* const api_;
  const std::function<void()> on_session_end_;
  ProgramCompiler compiler_;

  std::mutex mutex_;
  bool authorized_ = false;           // guarded by mutex_, like all members below
  std::string authorization_;         // accepted by the front process
  bool claimed_ = false;              // whether a session exists or is being created
  bool over_ = false;                 // whether the session has ended
  std::string token_;                 // the session's token
  std::shared_ptr<Session> session_;  // null before the session exists
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_CONNECTION_H_
