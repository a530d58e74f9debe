#include "plugin/compiler/marked_operations.h"

#include "absl/status/statusor.h"
#include "plugin/base/flags/flags.h"
#include "plugin/hal/backend.h"

namespace hpu {

bool MarksOperation(const char* operation) {
  const absl::StatusOr<hal::Backend*> backend = hal::GetBackend(flags::Backend());
  return backend.ok() && (*backend)->MarksOperation(operation);
}

}  // namespace hpu
