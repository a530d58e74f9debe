#include "plugin/base/random_id.h"

#include <sys/random.h>

#include <cstdlib>

#include "absl/strings/escaping.h"

namespace hpu {

namespace {

void FillRandomly(void* bytes, size_t count) {
  // getrandom() always serves requests of up to 256 bytes completely. All supported Linux kernels have getrandom().
  if (getrandom(bytes, count, 0) != static_cast<ssize_t>(count)) std::abort();
}

}  // namespace

std::string RandomId() {
  std::string bytes(16, '\0');
  FillRandomly(bytes.data(), bytes.size());
  return absl::BytesToHexString(bytes);
}

uint64_t RandomNumber() {
  uint64_t number = 0;
  FillRandomly(&number, sizeof(number));
  return number;
}

}  // namespace hpu
