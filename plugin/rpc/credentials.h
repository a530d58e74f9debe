// TLS of both sides.
#ifndef HPU_PLUGIN_RPC_CREDENTIALS_H_
#define HPU_PLUGIN_RPC_CREDENTIALS_H_

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "plugin/rpc/rpc.h"

namespace hpu::rpc {

// Name of the metadata that hpu_rpc_client_options.authorization goes by.
inline constexpr char kAuthorization[] = "authorization";

inline std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

inline std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const hpu_rpc_tls& tls) {
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = TextOf(tls.root_certificates);
  options.pem_cert_chain = TextOf(tls.certificate);
  options.pem_private_key = TextOf(tls.private_key);
  return grpc::SslCredentials(options);
}

// Without TLS if `tls` is null. With root certificates a client must have a certificate that they vouch for.
inline std::shared_ptr<grpc::ServerCredentials> ServerCredentials(const hpu_rpc_tls* tls) {
  if (tls == nullptr) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(tls->root_certificates == nullptr
                                                ? GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE
                                                : GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = TextOf(tls->root_certificates);
  options.pem_key_cert_pairs.push_back({TextOf(tls->private_key), TextOf(tls->certificate)});
  return grpc::SslServerCredentials(options);
}

}  // namespace hpu::rpc

#endif  // HPU_PLUGIN_RPC_CREDENTIALS_H_
