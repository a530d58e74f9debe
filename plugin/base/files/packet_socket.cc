#include "plugin/base/files/packet_socket.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hpu::files {
namespace {

// A message header with room for kMaxPacketFiles files.
struct Header {
  iovec part = {};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxPacketFiles * sizeof(int))] = {};
  msghdr message = {};

  Header(void* data, size_t size) {
    part = {data, size};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
  }
};

std::vector<FileDescriptor> FilesOf(msghdr* message) {
  std::vector<FileDescriptor> files;
  for (cmsghdr* control = CMSG_FIRSTHDR(message); control != nullptr; control = CMSG_NXTHDR(message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= control->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + at, sizeof(fd));
      files.emplace_back(fd);
    }
  }
  return files;
}

}  // namespace

absl::StatusOr<std::pair<FileDescriptor, FileDescriptor>> PacketSocketPair() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot create a socket pair: ", std::strerror(errno), "; raise ulimit -n"));
  }
  return std::make_pair(FileDescriptor(sockets[0]), FileDescriptor(sockets[1]));
}

absl::Status SendPacket(const FileDescriptor& socket, absl::string_view bytes, const std::vector<int>& files) {
  if (bytes.empty() || bytes.size() > kMaxPacketBytes || files.size() > kMaxPacketFiles) {
    return absl::InvalidArgumentError(absl::StrCat("invalid packet of ", bytes.size(), " bytes and ", files.size(),
                                                   " files: expected 1 to ", kMaxPacketBytes, " bytes and at most ",
                                                   kMaxPacketFiles, " files"));
  }
  Header header(const_cast<char*>(bytes.data()), bytes.size());
  if (!files.empty()) {
    header.message.msg_control = header.control;
    header.message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* const control = CMSG_FIRSTHDR(&header.message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(control), files.data(), files.size() * sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket.get(), &header.message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(bytes.size())) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot send a message to the peer process: ", std::strerror(errno), "; check that it is running"));
}

absl::StatusOr<Packet> ReceivePacket(const FileDescriptor& socket) {
  Packet packet;
  packet.bytes.resize(kMaxPacketBytes);
  Header header(packet.bytes.data(), packet.bytes.size());
  header.message.msg_control = header.control;
  header.message.msg_controllen = sizeof(header.control);
  ssize_t size = 0;
  do {
    size = recvmsg(socket.get(), &header.message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) {
    return absl::UnavailableError(absl::StrCat("cannot receive a message from the peer process: ", std::strerror(errno),
                                               "; check that it is running"));
  }
  if (size == 0) return absl::UnavailableError("the peer process closed the connection; check that it is running");
  packet.files = FilesOf(&header.message);
  if ((header.message.msg_flags & MSG_TRUNC) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("received a packet of more than ", kMaxPacketBytes,
                                                   " bytes; run the same version of hpu-tensorflow in both processes"));
  }
  if ((header.message.msg_flags & MSG_CTRUNC) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("received a packet with more than ", kMaxPacketFiles,
                     " files, or this process has no free file descriptor (raise ulimit -n)"));
  }
  packet.bytes.resize(static_cast<size_t>(size));
  return packet;
}

}  // namespace hpu::files
