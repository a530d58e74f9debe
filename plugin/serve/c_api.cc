#include "plugin/c_api.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/strings/str_split.h"
#include "plugin/c_buffer.h"
#include "plugin/hal/backend.h"
#include "plugin/log/log.h"
#include "plugin/serve/compile_worker.h"
#include "plugin/serve/server.h"

namespace hpu::serve {
namespace {

struct ProcessServer {
  std::mutex mutex;
  std::unique_ptr<Server> server;  // guarded by mutex
};

ProcessServer& TheServer() {
  static auto* server = new ProcessServer;
  return *server;
}

absl::StatusOr<std::string> Start(ServerOptions options) {
  log::ReadSettings();
  ProcessServer& process = TheServer();
  std::lock_guard<std::mutex> lock(process.mutex);
  if (process.server != nullptr) return absl::FailedPreconditionError("this process is a device server already");
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(std::move(options));
  if (!server.ok()) return server.status();
  process.server = *std::move(server);
  return process.server->spec();
}

SessionLimits LimitsOf(const hpu_serve_options& options) {
  SessionLimits limits;
  if (options.most_memory_bytes > 0) limits.memory_bytes = options.most_memory_bytes;
  if (options.most_recipes > 0) limits.recipes = options.most_recipes;
  if (options.most_recipe_bytes > 0) limits.recipe_bytes = options.most_recipe_bytes;
  if (options.most_in_flight_bytes > 0) limits.in_flight_bytes = options.most_in_flight_bytes;
  return limits;
}

CompileOptions CompileOptionsOf(const hpu_serve_options& options) {
  CompileOptions compile;
  for (const char* const* word = options.compile_command; word != nullptr && *word != nullptr; ++word) {
    compile.command.emplace_back(*word);
  }
  compile.most_workers = options.most_compile_workers;
  if (options.compile_timeout_seconds > 0) compile.timeout = std::chrono::seconds(options.compile_timeout_seconds);
  return compile;
}

}  // namespace
}  // namespace hpu::serve

extern "C" {

int32_t hpu_serve_start(const hpu_serve_options* options, hpu_buffer* message) {
  hpu::serve::ServerOptions server;
  server.address = options->address;
  server.backend = options->backend;
  server.allow_faults = options->allow_faults != 0;
  server.token = options->token;
  server.limits = hpu::serve::LimitsOf(*options);
  server.compile = hpu::serve::CompileOptionsOf(*options);
  server.tls = {options->tls_certificate, options->tls_private_key, options->tls_client_ca};
  server.faults = absl::StrSplit(options->faults, ',', absl::SkipEmpty());
  server.recipe_key.assign(static_cast<const char*>(options->recipe_key), options->recipe_key_size);
  const absl::StatusOr<std::string> spec = hpu::serve::Start(std::move(server));
  *message = hpu::MakeBuffer(spec.ok() ? *spec : spec.status().message());
  return static_cast<int32_t>(spec.status().code());
}

void hpu_serve_stop(void) {
  hpu::serve::ProcessServer& process = hpu::serve::TheServer();
  std::lock_guard<std::mutex> lock(process.mutex);
  process.server.reset();
}

int32_t hpu_serve_compile(int32_t socket, const char* backend_name) {
  hpu::log::ReadSettings();
  const absl::StatusOr<hpu::hal::Backend*> backend = hpu::hal::GetBackend(backend_name);
  if (!backend.ok()) return static_cast<int32_t>(backend.status().code());
  hpu::serve::RunCompileWorker(**backend, socket);
}

}  // extern "C"
