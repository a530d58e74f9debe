// Server: the modules of this process's backend, for other processes (docs/remote.md).
#ifndef HPU_PLUGIN_SERVE_SERVER_H_
#define HPU_PLUGIN_SERVE_SERVER_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/common/faults.h"
#include "plugin/files/file_lock.h"
#include "plugin/hal/backend.h"
#include "plugin/serve/access.h"
#include "plugin/serve/memory_socket.h"
#include "plugin/serve/module_table.h"
#include "plugin/serve/program_compiler.h"
#include "plugin/serve/recipe_seal.h"
#include "plugin/serve/refusal_log.h"
#include "plugin/serve/session.h"

namespace hpu::serve {

struct ServerOptions {
  std::string address;               // "unix:/path" or "host:port"; port 0 takes a free one
  std::string backend = "emulator";  // whose modules are served
  bool allow_faults = false;         // whether clients may ask for errors (HPU_EMULATOR_FAULTS), for tests
  std::vector<std::string> faults;   // of every session, as common::Faults has them
  std::string recipe_key;            // secret that recipes are sealed with; empty: one that dies with the server
  std::string token;                 // that clients must show; empty: none
  TlsOptions tls;
  SessionLimits limits;
  CompileOptions compile;
};

// Thread safe.
class Server {
 public:
  // FailedPrecondition if another server listens at the path, or for addresses that other machines reach without TLS
  // and without a check of who they are.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options);
  // The same with other functions than libhpu_remote's, for tests.
  static absl::StatusOr<std::unique_ptr<Server>> Start(ServerOptions options, const hpu_rpc_api* api);
  // Ends all sessions.
  ~Server();

  // As HPU_BACKEND takes it.
  const std::string& spec() const { return spec_; }

 private:
  Server(ServerOptions options, hal::Backend* backend, int modules, RecipeSeal seal, common::Faults faults,
         const hpu_rpc_api* api);

  absl::Status Listen();
  static void LogRpcError(void* self, int32_t code, const char* message, size_t size);
  void ShareMemory(absl::string_view path);
  static void Serve(void* self, hpu_rpc_server_call* call, const char* method);
  absl::Status Dispatch(ServerCall* call, absl::string_view method);
  absl::Status ServeDescribe(ServerCall* call);
  absl::Status ServeHold(ServerCall* call);
  absl::Status ServeRun(ServerCall* call);
  absl::Status ServeMakeRecipe(ServerCall* call);
  absl::Status ServeMakeCommunicator(ServerCall* call);

  absl::StatusOr<std::shared_ptr<Session>> Acquire(const proto::Acquire& request);
  // `number`: of the server's sessions, from 1.
  absl::StatusOr<std::shared_ptr<Session>> CreateSession(hal::AcquireOptions options, const ModuleHolder& holder,
                                                         uint64_t number);
  // Signs of life and forgotten handles, until the client's end.
  absl::Status KeepSession(ServerCall* call, Session& session);
  // Those that are open now.
  std::vector<std::shared_ptr<Session>> Sessions();
  absl::StatusOr<std::shared_ptr<Session>> Find(const std::string& token);
  void Remove(const std::string& token, const std::shared_ptr<Session>& session);
  // The session that held it is over.
  void Release(int module_id);

  const ServerOptions options_;
  hal::Backend* const backend_;
  const RecipeSeal seal_;
  const Access access_;
  const hpu_rpc_api* const api_;
  common::Faults faults_;  // of acquisitions
  RefusalLog refusals_;
  ModuleTable modules_;
  ProgramCompiler compiler_;
  std::unique_ptr<files::FileLock> path_lock_;  // of a Unix socket
  std::string spec_;

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Session>> sessions_;  // by token; guarded by mutex_
  std::atomic<uint64_t> sessions_opened_{0};
  std::atomic<uint64_t> sessions_closed_{0};

  std::unique_ptr<MemorySocket> memory_socket_;  // null: sessions share no memory
  hpu_rpc_server* rpc_server_ = nullptr;         // last: its calls use all of the above
};

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVE_SERVER_H_
