// CompileFrame: message between a session process and its compile workers.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::serve {

// Both sides are the same build on the same machine, so numbers are sent in native byte order.
struct CompileFrame {
  enum class Kind : uint32_t {
    // From the server; the body is the program.
    kCompile = 1,
    kCrash = 2,  // an injected fault instead of a compilation, like kHang
    kHang = 3,
    // From the worker.
    kBegun = 4,   // the worker has received the program; later failures are caused by the program
    kRecipe = 5,  // the body holds the recipe
    kError = 6,   // `code`, with the message in the body
  };
  static constexpr uint64_t kMaxNameBytes = 4096;
  static constexpr uint64_t kMaxBodyBytes = uint64_t{1} << 30;

  Kind kind = Kind::kError;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string name;  // of the program
  std::string body;
};

// Called about ten times a second during a wait for the other side. An error ends the wait.
using CancellationCheck = std::function<absl::Status()>;

// Sends a frame. Fails with InvalidArgument for a frame that exceeds the bounds, before any byte is sent. Fails with
// Unavailable if the other side is gone.
absl::Status SendFrame(const files::FileDescriptor& socket, const CompileFrame& frame, const CancellationCheck& check);
// Receives the next frame. Fails with DataLoss for an invalid header, before the body is read, and with Unavailable at
// end of file.
absl::StatusOr<CompileFrame> ReceiveFrame(const files::FileDescriptor& socket, const CancellationCheck& check);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_
