#include "plugin/base/files/descriptor_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/base/files/peer_owner.h"

namespace hpu::files {
namespace {

struct SocketAddress {
  sockaddr_un address = {};
  socklen_t size = sizeof(sockaddr_un);
};

absl::StatusOr<SocketAddress> AddressOf(const std::string& path) {
  SocketAddress result;
  sockaddr_un& address = result.address;
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::UnavailableError(absl::StrCat(path, ": the path is too long for a Unix socket (", path.size(),
                                               " bytes, at most ", sizeof(address.sun_path) - 1,
                                               "); use a shorter path"));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (path[0] == '@') {
    address.sun_path[0] = '\0';
    result.size = offsetof(sockaddr_un, sun_path) + path.size();
  }
  return result;
}

absl::Status SocketFailure(const char* what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(errno), "; check the path and its permissions"));
}

FileDescriptor NewSocket() { return FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

void LimitWaiting(const FileDescriptor& socket) {
  const timeval second = {1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second));
}

// A message of one byte with room for a file descriptor.
struct FileMessage {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};

  FileMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
};

}  // namespace

absl::StatusOr<FileDescriptor> ListenAt(const std::string& path) {
  const absl::StatusOr<SocketAddress> address = AddressOf(path);
  if (!address.ok()) return address.status();
  FileDescriptor listening = NewSocket();
  struct stat info;
  if (lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) unlink(path.c_str());
  // Uses umask() instead of a later chmod(), so that no other user can connect before the mode is set.
  const mode_t mask = umask(0177);
  const int bound = bind(listening.get(), reinterpret_cast<const sockaddr*>(&address->address), address->size);
  umask(mask);
  if (bound != 0 || listen(listening.get(), SOMAXCONN) != 0) return SocketFailure("listen on", path);
  return listening;
}

FileDescriptor Accept(const FileDescriptor& listening) {
  for (;;) {
    FileDescriptor socket(accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.valid()) {
      LimitWaiting(socket);
      return socket;
    }
    if (errno == EINVAL || errno == EBADF) return socket;  // the socket was shut down
    if (errno == EMFILE || errno == ENFILE) usleep(10'000);
  }
}

absl::StatusOr<FileDescriptor> ConnectTo(const std::string& path) {
  const absl::StatusOr<SocketAddress> address = AddressOf(path);
  if (!address.ok()) return address.status();
  FileDescriptor socket = NewSocket();
  LimitWaiting(socket);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address->address), address->size) != 0) {
    return SocketFailure("connect to", path);
  }
  if (const std::string problem = PeerOwnerProblem(socket.get()); !problem.empty()) {
    return absl::UnavailableError(absl::StrCat(path, ": ", problem));
  }
  return socket;
}

bool Send(const FileDescriptor& socket, absl::string_view bytes) {
  return send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

std::string Receive(const FileDescriptor& socket, size_t size) {
  std::string bytes(size, '\0');
  if (recv(socket.get(), bytes.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) bytes.clear();
  return bytes;
}

bool SendFile(const FileDescriptor& socket, const FileDescriptor& file) {
  FileMessage message;
  cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = file.get();
  std::memcpy(CMSG_DATA(control), &fd, sizeof(fd));
  return sendmsg(socket.get(), &message.header, MSG_NOSIGNAL) == 1;
}

absl::StatusOr<FileDescriptor> ReceiveFile(const FileDescriptor& socket) {
  FileMessage message;
  const ssize_t size = recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC);
  if (size < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot receive a file descriptor: ", std::strerror(errno), "; check the peer process"));
  }
  if (size == 0) {
    return absl::UnavailableError(
        "the peer closed the socket before sending a file descriptor; check the peer process");
  }
  const cmsghdr* const control = CMSG_FIRSTHDR(&message.header);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) {
    return absl::UnavailableError(
        "the peer's message contains no file descriptor; run the same version of hpu-tensorflow in both processes");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof(fd));
  return FileDescriptor(fd);
}

}  // namespace hpu::files
