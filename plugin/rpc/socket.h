// Client sockets: address parsing, connection and closing in forked children.
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

// Returns why `address` is not a valid "unix:/path" or "host:port"; empty for a valid address.
std::string AddressProblem(const std::string& address);

// Returns a connected, non-blocking, close-on-exec socket, or -1 with the reason in `error`. Requires
// AddressProblem(address) to be empty.
int ConnectSocket(const std::string& address, int timeout_ms, std::string* error);

// File descriptors of this process's sockets whose peer has the port of "host:port", by inode.
std::map<ino_t, int> SocketsTo(const std::string& address);

// Makes forked children close `fd` until UnregisterSocket. Otherwise the server would not detect the client's end while
// a child holds the socket open.
void RegisterSocket(int fd);
void UnregisterSocket(int fd);

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_SOCKET_H_
