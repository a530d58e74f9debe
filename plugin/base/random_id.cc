#include "plugin/base/random_id.h"

#include <sys/random.h>

#include <cstdlib>

#include "absl/strings/escaping.h"

namespace hpu {

std::string RandomId() {
  std::string bytes(16, '\0');
  // getrandom() always serves requests of up to 256 bytes completely. All supported Linux kernels have getrandom().
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return absl::BytesToHexString(bytes);
}

}  // namespace hpu
