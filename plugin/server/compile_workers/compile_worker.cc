#include "plugin/server/compile_workers/compile_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/files/file_descriptor.h"
#include "plugin/base/log/log.h"
#include "plugin/hal/recipe.h"
#include "plugin/server/compile_workers/compile_frame.h"
#include "plugin/server/confinement.h"
#include "plugin/server/fork_server.h"

namespace hpu::serve {
namespace {

absl::Status NeverCancelled() { return absl::OkStatus(); }

void EndWithServer(int socket) {
  pollfd server = {socket, POLLRDHUP, 0};
  while (poll(&server, 1, /*timeout=*/-1) < 1) {
  }
  EndChild();
}

CompileFrame CompileInWorker(hal::Backend& backend, CompileFrame request) {
  CompileFrame answer;
  absl::StatusOr<std::string> recipe = backend.Compile({request.name, std::move(request.body)});
  if (recipe.ok() && recipe->size() > CompileFrame::kMaxBodyBytes) {
    recipe = absl::ResourceExhaustedError(absl::StrCat("program '", request.name, "': its recipe has ", recipe->size(),
                                                       " bytes; the maximum is ", CompileFrame::kMaxBodyBytes,
                                                       "; lower HPU_MAX_CLUSTER_SIZE"));
  }
  if (recipe.ok()) {
    answer.kind = CompileFrame::Kind::kRecipe;
    answer.body = *std::move(recipe);
  } else {
    answer.kind = CompileFrame::Kind::kError;
    answer.code = recipe.status().code();
    answer.body = std::string(recipe.status().message());
  }
  return answer;
}

CompileFrame Serve(hal::Backend& backend, CompileFrame request) {
  switch (request.kind) {
    case CompileFrame::Kind::kCrash:
      HPU_LOG(kBackend, kCritical) << "injected fault: compiler_crash";
      std::abort();
    case CompileFrame::Kind::kHang:
      HPU_LOG(kBackend, kCritical) << "injected fault: compiler_hang";
      for (;;) pause();
    default:
      return CompileInWorker(backend, std::move(request));
  }
}

}  // namespace

void RunCompileWorker(hal::Backend& backend, int socket_number, std::chrono::seconds timeout, bool confine) {
  const files::FileDescriptor socket(socket_number);
  if (confine && !Confine(Role::kComputes).ok()) EndChild();
  const auto processors = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::thread([socket_number] { EndWithServer(socket_number); }).detach();
  CompileFrame begun;
  begun.kind = CompileFrame::Kind::kBegun;
  for (;;) {
    absl::StatusOr<CompileFrame> request = ReceiveFrame(socket, NeverCancelled);
    if (!request.ok() || !SendFrame(socket, begun, NeverCancelled).ok()) EndChild();
    LimitProcessorTime(timeout * processors);
    const CompileFrame answer = Serve(backend, *std::move(request));
    if (!SendFrame(socket, answer, NeverCancelled).ok()) EndChild();
  }
}

}  // namespace hpu::serve
