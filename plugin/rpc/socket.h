// Addresses and the client's socket.
#ifndef HPU_PLUGIN_RPC_SOCKET_H_
#define HPU_PLUGIN_RPC_SOCKET_H_

#include <sys/types.h>

#include <map>
#include <string>

namespace hpu::rpc {

// The path of "unix:/path"; empty for other addresses.
std::string UnixPath(const std::string& address);
// Whether the host of "host:port" is this machine's loopback.
bool IsLoopback(const std::string& address);

// Why "unix:/path" or "host:port" is no address, on any machine; empty if it is one.
std::string AddressProblem(const std::string& address);

// A connected, non-blocking socket that exec() closes, or -1 with the reason in `error`. The address has no
// AddressProblem.
int ConnectSocket(const std::string& address, int timeout_ms, std::string* error);

// The numbers of this process's sockets whose other side has the port of "host:port", by inode.
std::map<ino_t, int> SocketsTo(const std::string& address);

// From now until ForgetSocket, a forked child closes `fd`: else the server would not see its client die as long as the
// child lives.
void RememberSocket(int fd);
void ForgetSocket(int fd);

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_SOCKET_H_
