// Entry of the remote backend, with a device server that the program starts.
#ifdef HPU_HAVE_REMOTE

#include <cstdio>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "plugin/testing/cts/backends.h"
#include "plugin/testing/cts/child.h"

namespace hpu::cts {
namespace {

// Environment variable with the spec of the device server.
constexpr char kServerVariable[] = "CTS_SERVER";

std::shared_ptr<void> StartServer(const std::string& folder) {
  if (std::getenv(kBackendVariable) != nullptr) return nullptr;
  // {"backend": "grpc+unix:/…", …}
  constexpr absl::string_view kBackend = "{\"backend\": \"";
  auto server = std::make_shared<ChildProcess>("unix:" + folder + "/server", ChildProcess::Role::kServe);
  absl::string_view answer = server->answer();
  if (!absl::ConsumePrefix(&answer, kBackend)) {
    std::printf(
        "The device server for the tests of `remote` cannot be started from the installed plugin (%s): run `make "
        "build-tests`, or test one other backend with %s=emulator\n",
        server->answer().empty() ? "see above" : server->answer().c_str(), kBackendVariable);
    std::exit(1);
  }
  setenv(kServerVariable, std::string(answer.substr(0, answer.find('"'))).c_str(), 1);
  return server;
}

std::vector<BackendUnderTest> Remote() {
  const char* server = std::getenv(kServerVariable);
  if (server == nullptr || std::getenv(kBackendVariable) != nullptr) return {};
  BackendUnderTest remote;
  remote.name = "remote";
  remote.spec = server;
  const char* no_files = "modules of a device server have no lock files";
  remote.unsupported = {{"ModuleTest.UnlockedModuleFilesAreIgnored", no_files},
                        {"ModuleTest.UnsafeDirectoriesAndFilesAreRefused", no_files},
                        {"ModuleTest.FilesArePrivateToTheUser", no_files},
                        {"CommunicatorTest.RendezvousOfSeveralProcesses", "the server joins the ranks"},
                        {"CommunicatorTest.FailedRendezvousOfSeveralProcesses", "the server joins the ranks"},
                        {"CommunicatorTest.OperationsOnSeveralStreamsRunInCallOrder",
                         "commands of several streams reach a device server in any order"}};
  return {remote};
}

Entry RemoteEntry() {
  Entry entry;
  entry.backends = Remote;
  entry.prepare = StartServer;
  return entry;
}

const bool registered_remote = Register(RemoteEntry());

}  // namespace
}  // namespace hpu::cts

#endif  // HPU_HAVE_REMOTE
