#include "plugin/server/compile_workers/compile_frame.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"

namespace hpu::serve {
namespace {

constexpr uint32_t kMagic = 0x46435048;  // "HPCF"
constexpr int kPollMs = 100;
constexpr size_t kStepBytes = size_t{16} << 20;

struct Header {
  uint32_t magic = kMagic;
  uint32_t kind = 0;
  uint32_t code = 0;
  uint32_t name_bytes = 0;
  uint64_t body_bytes = 0;
};

bool IsKind(uint32_t kind) {
  return kind >= static_cast<uint32_t>(CompileFrame::Kind::kCompile) &&
         kind <= static_cast<uint32_t>(CompileFrame::Kind::kError);
}

bool IsWithinBounds(const Header& header) {
  return header.name_bytes <= CompileFrame::kMaxNameBytes && header.body_bytes <= CompileFrame::kMaxBodyBytes;
}

// Handles the result of a non-blocking call: returns the number of bytes moved, or 0 after polling the socket.
absl::StatusOr<size_t> Moved(ssize_t bytes, const files::FileDescriptor& socket, int16_t events,
                             const CancellationCheck& check) {
  if (bytes > 0) return static_cast<size_t>(bytes);
  if (bytes == 0)
    return absl::UnavailableError(
        "the connection between the device server and a compile worker was closed; see the device server's log");
  if (errno != EAGAIN && errno != EINTR) {
    return absl::UnavailableError(absl::StrCat("the connection between the device server and a compile worker failed: ",
                                               std::strerror(errno), "; see the device server's log"));
  }
  pollfd ready = {socket.get(), events, 0};
  poll(&ready, 1, kPollMs);
  HPU_RETURN_IF_ERROR(check());
  return 0;
}

absl::Status SendAll(const files::FileDescriptor& socket, absl::string_view bytes, const CancellationCheck& check) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    HPU_ASSIGN_OR_RETURN(const size_t moved, Moved(sent, socket, POLLOUT, check));
    bytes.remove_prefix(moved);
  }
  return absl::OkStatus();
}

absl::Status ReceiveAll(const files::FileDescriptor& socket, char* data, size_t size, const CancellationCheck& check) {
  while (size > 0) {
    const ssize_t received = recv(socket.get(), data, size, MSG_DONTWAIT);
    HPU_ASSIGN_OR_RETURN(const size_t moved, Moved(received, socket, POLLIN, check));
    data += moved;
    size -= moved;
  }
  return absl::OkStatus();
}

// Grows `bytes` as data arrives, so that a large announced size alone allocates little.
absl::Status ReceiveAll(const files::FileDescriptor& socket, uint64_t size, const CancellationCheck& check,
                        std::string* bytes) {
  while (bytes->size() < size) {
    const size_t begin = bytes->size();
    const size_t step = std::min<uint64_t>(size - begin, kStepBytes);
    bytes->resize(begin + step);
    HPU_RETURN_IF_ERROR(ReceiveAll(socket, bytes->data() + begin, step, check));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SendFrame(const files::FileDescriptor& socket, const CompileFrame& frame, const CancellationCheck& check) {
  Header header;
  header.kind = static_cast<uint32_t>(frame.kind);
  header.code = static_cast<uint32_t>(frame.code);
  header.name_bytes = static_cast<uint32_t>(std::min<size_t>(frame.name.size(), UINT32_MAX));
  header.body_bytes = frame.body.size();
  if (header.name_bytes > CompileFrame::kMaxNameBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the name of program '", frame.name.substr(0, 100), "...' has ",
                                                   frame.name.size(), " bytes; the maximum is ",
                                                   CompileFrame::kMaxNameBytes, "; use a shorter name"));
  }
  if (header.body_bytes > CompileFrame::kMaxBodyBytes) {
    return absl::InvalidArgumentError(absl::StrCat("program '", frame.name, "' has ", frame.body.size(),
                                                   " bytes; the maximum is ", CompileFrame::kMaxBodyBytes,
                                                   "; lower HPU_MAX_CLUSTER_SIZE"));
  }
  HPU_RETURN_IF_ERROR(
      SendAll(socket, absl::string_view(reinterpret_cast<const char*>(&header), sizeof(header)), check));
  HPU_RETURN_IF_ERROR(SendAll(socket, frame.name, check));
  return SendAll(socket, frame.body, check);
}

absl::StatusOr<CompileFrame> ReceiveFrame(const files::FileDescriptor& socket, const CancellationCheck& check) {
  Header header;
  HPU_RETURN_IF_ERROR(ReceiveAll(socket, reinterpret_cast<char*>(&header), sizeof(header), check));
  if (header.magic != kMagic || !IsKind(header.kind) || !IsWithinBounds(header)) {
    return absl::DataLossError(absl::StrCat("invalid message between the device server and a compile worker: magic ",
                                            header.magic, ", kind ", header.kind, ", name of ", header.name_bytes,
                                            " bytes, body of ", header.body_bytes, " bytes; " HPU_REPORT_BUG));
  }
  CompileFrame frame;
  frame.kind = static_cast<CompileFrame::Kind>(header.kind);
  frame.code = static_cast<absl::StatusCode>(header.code);
  HPU_RETURN_IF_ERROR(ReceiveAll(socket, header.name_bytes, check, &frame.name));
  HPU_RETURN_IF_ERROR(ReceiveAll(socket, header.body_bytes, check, &frame.body));
  return frame;
}

}  // namespace hpu::serve
