// Client credentials: TLS and authorization.
#ifndef HPU_PLUGIN_RPC_CREDENTIALS_H_
#define HPU_PLUGIN_RPC_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>

#include <memory>
#include <string>

#include "plugin/rpc/rpc.h"

namespace hpu::rpc {

// Name of the metadata that carries hpu_rpc_client_options.authorization.
inline constexpr char kAuthorization[] = "authorization";

inline std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

inline std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const hpu_rpc_tls& tls) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = TextOf(tls.root_certificates);
  options.pem_cert_chain = TextOf(tls.certificate);
  options.pem_private_key = TextOf(tls.private_key);
  return grpc::SslCredentials(options);
}

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_CREDENTIALS_H_
