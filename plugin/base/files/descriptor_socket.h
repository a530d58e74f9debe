// Unix sockets over which a process hands an open file to another one.
#ifndef HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_
#define HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/base/files/file_descriptor.h"

namespace hpu::files {

// Listens at `path`, to which only this user may connect, in place of a socket that is there. Unavailable if that
// fails, as where the path is that of another file.
absl::StatusOr<FileDescriptor> ListenAt(const std::string& path);
// The next connection; none (not valid) once the socket has been shut down. Neither side waits longer than a second for
// the other one on it.
FileDescriptor Accept(const FileDescriptor& listening);

// Connects to `path`. Here, too, all waiting ends after a second. Unavailable if nobody listens.
absl::StatusOr<FileDescriptor> ConnectTo(const std::string& path);

// All of `bytes`, or false.
bool Send(const FileDescriptor& socket, absl::string_view bytes);
// Exactly `size` bytes, or empty.
std::string Receive(const FileDescriptor& socket, size_t size);

bool SendFile(const FileDescriptor& socket, const FileDescriptor& file);
// Unavailable if the other side sends none.
absl::StatusOr<FileDescriptor> ReceiveFile(const FileDescriptor& socket);

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_DESCRIPTOR_SOCKET_H_
