// Unix sockets that pass open files between processes.
#ifndef HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_
#define HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// A path that begins with "@" is a name in Linux's abstract socket namespace (unix(7)). The name has no file and
// disappears when the socket is closed.

// Listens at `path` and replaces an existing socket. Only this user may connect to a socket file. Any user may connect
// to an abstract name, so the caller checks the peer (peer_owner.h). Unavailable on errors, e.g. if `path` is another
// kind of file.
absl::StatusOr<FileDescriptor> ListenAt(const std::string& path);
// Returns the next connection, or an invalid descriptor once the socket has been shut down. Reads and writes on the
// connection time out after a second.
FileDescriptor Accept(const FileDescriptor& listening);

// Connects to `path`. Reads and writes time out after a second. Unavailable if no process listens, or if the listening
// process is not trusted (peer_owner.h).
absl::StatusOr<FileDescriptor> ConnectTo(const std::string& path);

// Sends all of `bytes`; false on errors.
bool Send(const FileDescriptor& socket, absl::string_view bytes);
// Receives exactly `size` bytes; empty on errors.
std::string Receive(const FileDescriptor& socket, size_t size);

bool SendFile(const FileDescriptor& socket, const FileDescriptor& file);
// Unavailable if the peer sends no file.
absl::StatusOr<FileDescriptor> ReceiveFile(const FileDescriptor& socket);

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_
