// Address parsing and the client's socket.
#ifndef HPU_PLUGIN_RPC_SOCKET_H_
#define HPU_PLUGIN_RPC_SOCKET_H_

#include <sys/types.h>

#include <map>
#include <string>

namespace hpu::rpc {

// Returns the path of "unix:/path"; empty for other addresses.
std::string UnixPath(const std::string& address);
// Whether the host of "host:port" is this machine's loopback interface.
bool IsLoopback(const std::string& address);

// Says why `address` is neither "unix:/path" nor "host:port" on any machine; empty if it is valid.
std::string AddressProblem(const std::string& address);

// Returns a connected, non-blocking, close-on-exec socket, or -1 with the reason in `error`. The address must have no
// AddressProblem.
int ConnectSocket(const std::string& address, int timeout_ms, std::string* error);

// File descriptors of this process's sockets whose peer has the port of "host:port", by inode.
std::map<ino_t, int> SocketsTo(const std::string& address);

// Until ForgetSocket, forked children close `fd`. Otherwise the server would not see the client's death while a child
// lives.
void RememberSocket(int fd);
void ForgetSocket(int fd);

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_SOCKET_H_
