#include "plugin/testing/cts/entries/compile_fork_server.h"

#include <memory>
#include <utility>

#include "plugin/hal/backend.h"
#include "plugin/server/compile_workers/compile_fork_server.h"
#include "plugin/testing/cts/backends.h"

namespace hpu::cts {
namespace {

std::unique_ptr<serve::ForkClient> StartForkServer() {
  serve::CompileForkServerOptions options;
  auto backend = hal::GetBackend("null");
  if (!backend.ok()) return nullptr;
  options.backend = *backend;
  auto client = serve::StartCompileForkServer(options);
  return client.ok() ? *std::move(client) : nullptr;
}

Entry CompileForkServerEntry() {
  Entry entry;
  entry.start = [] { CompileForkServer(); };
  return entry;
}

const bool registered_compile_fork_server = Register(CompileForkServerEntry());

}  // namespace

serve::ForkClient* CompileForkServer() {
  static const auto* client = new std::unique_ptr<serve::ForkClient>(StartForkServer());
  return client->get();
}

}  // namespace hpu::cts
