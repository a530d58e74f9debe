// Client credentials for a device server, and the root certificates that verify the server.
#ifndef HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_
#define HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_

#include <string>

#include "absl/status/statusor.h"

namespace hpu::remote {

// Certificates and key are PEM texts; empty if not set.
struct Credentials {
  std::string token;
  std::string root_certificates;  // for the server's certificate; empty: the system's root certificates
  std::string certificate;        // certificate of the client
  std::string private_key;        // key of the client; set if and only if `certificate` is set
};

// Reads HPU_SERVER_TOKEN, _TOKEN_FILE, _CA, _CERT and _KEY. Fails with InvalidArgument, which names the setting, for
// example if a file cannot be read or other users may access a secret.
absl::StatusOr<Credentials> ReadCredentials();

}  // namespace hpu::remote

#endif  // HPU_PLUGIN_BACKENDS_REMOTE_CREDENTIALS_H_
