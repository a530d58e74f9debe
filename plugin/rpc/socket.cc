#include "plugin/rpc/socket.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "plugin/base/files/peer_owner.h"

namespace hpu::rpc {
namespace {

constexpr char kUnix[] = "unix:";
constexpr size_t kMaxPathBytes = sizeof(sockaddr_un::sun_path) - 1;

// Splits "host:port" or "[host]:port".
void SplitHostPort(const std::string& address, std::string* host, std::string* port) {
  const size_t colon = address.rfind(':');
  *host = address.substr(0, colon);
  *port = colon == std::string::npos ? "" : address.substr(colon + 1);
  if (host->size() > 1 && host->front() == '[' && host->back() == ']') *host = host->substr(1, host->size() - 2);
}

// Connects `fd` within the timeout and returns `fd`. On failure, closes `fd` and returns -1.
int Connect(int fd, const sockaddr* address, socklen_t size, int timeout_ms, std::string* error) {
  if (fd < 0) {
    *error = std::strerror(errno);
    return -1;
  }
  int code = connect(fd, address, size) == 0 ? 0 : errno;
  if (code == EINPROGRESS) {
    pollfd writable = {fd, POLLOUT, 0};
    int ready = 0;
    do {
      ready = poll(&writable, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    socklen_t length = sizeof(code);
    if (ready == 0) {
      code = ETIMEDOUT;
    } else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &length) != 0) {
      code = errno;
    }
  }
  if (code == 0) return fd;
  *error = std::strerror(code);
  close(fd);
  return -1;
}

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, kMaxPathBytes);
  return address;
}

int ConnectUnix(const std::string& path, int timeout_ms, std::string* error) {
  const sockaddr_un address = UnixAddress(path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  fd = Connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address), timeout_ms, error);
  if (fd < 0) return fd;
  *error = files::PeerOwnerProblem(fd);
  if (error->empty()) return fd;
  close(fd);
  return -1;
}

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

// Returns null on errors, with the reason in `error`.
Addresses Resolve(const std::string& target, std::string* error) {
  std::string host;
  std::string port;
  SplitHostPort(target, &host, &port);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) *error = gai_strerror(code);
  return Addresses(code == 0 ? found : nullptr, &freeaddrinfo);
}

int ConnectTcp(const std::string& target, int timeout_ms, std::string* error) {
  const Addresses found = Resolve(target, error);
  int fd = -1;
  for (const addrinfo* info = found.get(); info != nullptr && fd < 0; info = info->ai_next) {
    fd = Connect(socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), info->ai_addr,
                 info->ai_addrlen, timeout_ms, error);
  }
  const int on = 1;
  if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

// The peer's TCP port; -1 if `fd` is not a connected TCP socket.
int PeerPort(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return -1;
  switch (address.ss_family) {
    case AF_INET:
      return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    case AF_INET6:
      return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    default:
      return -1;
  }
}

// A socket that forked children close. A forked child must not lock a mutex, so the fields are atomic. The inode
// distinguishes the socket from a file that has since reused the descriptor.
struct OpenSocket {
  std::atomic<int> fd{-1};
  std::atomic<ino_t> inode{0};

  bool IsOpen(int number) const {
    struct stat info;
    return number >= 0 && fd.load() == number && fstat(number, &info) == 0 && S_ISSOCK(info.st_mode) &&
           info.st_ino == inode.load();
  }
};
std::array<OpenSocket, 64> open_sockets;

void CloseSockets() {
  for (const OpenSocket& socket : open_sockets) {
    if (const int fd = socket.fd.load(); socket.IsOpen(fd)) close(fd);
  }
}

}  // namespace

std::string UnixPath(const std::string& address) {
  return address.rfind(kUnix, 0) == 0 ? address.substr(sizeof(kUnix) - 1) : "";
}

std::string AddressProblem(const std::string& address) {
  if (const std::string path = UnixPath(address); !path.empty()) {
    if (path.size() <= kMaxPathBytes) return "";
    return "the path has " + std::to_string(path.size()) + " bytes; a Unix socket's path may have at most " +
           std::to_string(kMaxPathBytes) + "; use a shorter path";
  }
  std::string host;
  std::string port;
  SplitHostPort(address, &host, &port);
  const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
  // getaddrinfo() would silently use another port.
  return digits && std::atoi(port.c_str()) <= 65535 ? ""
                                                    : "'" + port + "' is not a port: expected a number from 0 to 65535";
}

bool IsLoopback(const std::string& address) {
  std::string host;
  std::string port;
  SplitHostPort(address, &host, &port);
  in_addr parsed;
  if (inet_pton(AF_INET, host.c_str(), &parsed) == 1) return (ntohl(parsed.s_addr) >> 24) == 127;
  return host == "localhost" || host == "::1";
}

int ConnectSocket(const std::string& address, int timeout_ms, std::string* error) {
  const std::string path = UnixPath(address);
  return path.empty() ? ConnectTcp(address, timeout_ms, error) : ConnectUnix(path, timeout_ms, error);
}

std::map<ino_t, int> SocketsTo(const std::string& address) {
  std::string host;
  std::string port;
  SplitHostPort(address, &host, &port);
  std::map<ino_t, int> found;
  DIR* const directory = opendir("/proc/self/fd");
  if (directory == nullptr) return found;
  while (const dirent* entry = readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    struct stat info;
    if (PeerPort(fd) == std::atoi(port.c_str()) && fstat(fd, &info) == 0) found.emplace(info.st_ino, fd);
  }
  closedir(directory);
  return found;
}

void RegisterSocket(int fd) {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, &CloseSockets); });
  struct stat info;
  if (fstat(fd, &info) != 0) return;
  for (OpenSocket& socket : open_sockets) {
    int none = -1;
    if (!socket.fd.compare_exchange_strong(none, fd)) continue;
    socket.inode.store(info.st_ino);
    return;
  }
}

void UnregisterSocket(int fd) {
  for (OpenSocket& socket : open_sockets) {
    int expected = fd;
    if (socket.fd.compare_exchange_strong(expected, -1)) return;
  }
}

}  // namespace hpu::rpc
