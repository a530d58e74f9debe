// Trust check for the process at the other end of a Unix socket.
#ifndef HPU_PLUGIN_BASE_FILES_PEER_OWNER_H_
#define HPU_PLUGIN_BASE_FILES_PEER_OWNER_H_

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace hpu::files {

// Returns why the process at the other end of a Unix socket is not trusted; empty for a trusted process. Processes of
// this user and of root are trusted. The check is needed because any user can create a socket in a directory for
// temporary files.
inline std::string PeerOwnerProblem(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::strerror(errno);
  if (peer.uid == geteuid() || peer.uid == 0) return "";
  return "the socket belongs to a process of user " + std::to_string(peer.uid) +
         "; only servers of your own user or root are trusted: start your own server at another path";
}

}  // namespace hpu::files

#endif  // HPU_PLUGIN_BASE_FILES_PEER_OWNER_H_
