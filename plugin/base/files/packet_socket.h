// Packet sockets: messages with attached files between processes of this machine (AF_UNIX, SOCK_SEQPACKET).
#ifndef HPU_PLUGIN_BASE_FILES_PACKET_SOCKET_H_
#define HPU_PLUGIN_BASE_FILES_PACKET_SOCKET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

inline constexpr size_t kMaxPacketBytes = size_t{64} << 10;
inline constexpr size_t kMaxPacketFiles = 2;

struct Packet {
  std::string bytes;  // never empty
  std::vector<FileDescriptor> files;
};

// Returns the two ends of a connected socket; exec() closes both. Unavailable if the system cannot create a socket
// pair.
absl::StatusOr<std::pair<FileDescriptor, FileDescriptor>> PacketSocketPair();

// Sends `bytes` (1 to kMaxPacketBytes) with at most kMaxPacketFiles files, which the caller still owns. Blocks while
// the socket is full. Unavailable if the other end is closed. Thread safe: packets are sent atomically.
absl::Status SendPacket(const FileDescriptor& socket, absl::string_view bytes, const std::vector<int>& files = {});

// Waits for the next packet. Unavailable once the other end is closed, InvalidArgument for a packet beyond the limits.
absl::StatusOr<Packet> ReceivePacket(const FileDescriptor& socket);

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_PACKET_SOCKET_H_
