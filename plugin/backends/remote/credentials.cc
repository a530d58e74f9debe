#include "plugin/backends/remote/credentials.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/status_macros.h"

namespace hpu::remote {
namespace {

// Contents of the file at `path`, the value of `setting`; empty if the path is empty.
absl::StatusOr<std::string> ReadFile(const char* setting, const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(absl::StrCat(setting, "=", path, " cannot be read: ", std::strerror(errno),
                                                   "; correct the path or its permissions"));
  }
  if (text.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(setting, "=", path, ": the file is empty; correct the path or unset ", setting));
  return text;
}

// Like ReadFile, but fails if users other than the owner may access the file.
absl::StatusOr<std::string> ReadSecretFile(const char* setting, const std::string& path) {
  struct stat info;
  if (!path.empty() && stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(setting, "=", path, " is accessible to other users: chmod 600 ", path));
  }
  return ReadFile(setting, path);
}

// The token is sent in a header, in which gRPC allows printable characters only.
absl::Status CheckToken(const char* setting, const std::string& token) {
  for (const char c : token) {
    if (!absl::ascii_isgraph(c)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the token in ", setting, " must consist of printable ASCII characters, without spaces"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadToken() {
  std::string token = flags::ServerToken();
  const std::string path = flags::ServerTokenFile();
  if (!token.empty() && !path.empty()) {
    return absl::InvalidArgumentError("HPU_SERVER_TOKEN and HPU_SERVER_TOKEN_FILE are both set: unset one");
  }
  if (token.empty()) {
    HPU_ASSIGN_OR_RETURN(token, ReadSecretFile("HPU_SERVER_TOKEN_FILE", path));
  }
  absl::StripAsciiWhitespace(&token);
  HPU_RETURN_IF_ERROR(CheckToken(path.empty() ? "HPU_SERVER_TOKEN" : "HPU_SERVER_TOKEN_FILE", token));
  return token;
}

}  // namespace

absl::StatusOr<Credentials> ReadCredentials() {
  Credentials credentials;
  HPU_ASSIGN_OR_RETURN(credentials.token, ReadToken());
  HPU_ASSIGN_OR_RETURN(credentials.root_certificates, ReadFile("HPU_SERVER_CA", flags::ServerCa()));
  HPU_ASSIGN_OR_RETURN(credentials.certificate, ReadFile("HPU_SERVER_CERT", flags::ServerCert()));
  HPU_ASSIGN_OR_RETURN(credentials.private_key, ReadSecretFile("HPU_SERVER_KEY", flags::ServerKey()));
  if (credentials.certificate.empty() != credentials.private_key.empty()) {
    return absl::InvalidArgumentError("only one of HPU_SERVER_CERT and HPU_SERVER_KEY is set: set both");
  }
  return credentials;
}

}  // namespace hpu::remote
