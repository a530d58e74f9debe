// CompileFrame: what a device server and its compile workers send each other over a socket.
#ifndef HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_
#define HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::serve {

// Both sides are of one build and on one machine: numbers go as they lie in memory.
struct CompileFrame {
  enum class Kind : uint32_t {
    // From the server; the body is the program.
    kCompile = 1,
    kCrash = 2,  // instead of compiling it: a fault that was asked for
    kHang = 3,
    // From the worker.
    kBegun = 4,   // has the program: what happens from now on is the program's doing
    kRecipe = 5,  // the body
    kError = 6,   // `code`, and the message as the body
  };
  static constexpr uint64_t kMaxNameBytes = 4096;
  static constexpr uint64_t kMaxBodyBytes = uint64_t{1} << 30;

  Kind kind = Kind::kError;
  absl::StatusCode code = absl::StatusCode::kOk;
  std::string name;  // of the program
  std::string body;
};

// Asked ten times a second while the other side is waited for: an error ends the wait.
using GoOn = std::function<absl::Status()>;

// InvalidArgument for a frame beyond the bounds, before anything is sent; Unavailable if the other side is gone.
absl::Status SendFrame(const files::FileDescriptor& socket, const CompileFrame& frame, const GoOn& go_on);
// The next frame. DataLoss for bytes that are none, found out before its body is waited for; Unavailable at the end.
absl::StatusOr<CompileFrame> ReceiveFrame(const files::FileDescriptor& socket, const GoOn& go_on);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_COMPILE_WORKERS_COMPILE_FRAME_H_
