#include "plugin/base/random_id.h"

#include <sys/random.h>

#include <cstdlib>

#include "absl/strings/escaping.h"

namespace hpu::hal {

std::string RandomId() {
  std::string bytes(16, '\0');
  // getrandom() never returns fewer bytes for so small a request, and every kernel that runs this program has it.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return absl::BytesToHexString(bytes);
}

}  // namespace hpu::hal
