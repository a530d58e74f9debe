// What code decides on travels in a status as a payload, never in the words of its message.
#ifndef HPU_PLUGIN_BASE_STATUS_PAYLOADS_H_
#define HPU_PLUGIN_BASE_STATUS_PAYLOADS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hpu {

enum class Payload {
  kCrash,                // work crashed in containment/
  kHostMemoryExhausted,  // the host, not the device, has no memory left
  kRemedy,               // the message says what to do about the backend, so that callers add nothing
  kMemoryStatistics,     // the message has the device memory in use
};

// Returns the status with a payload. Requires an error.
absl::Status With(absl::Status status, Payload payload);

bool Has(const absl::Status& status, Payload payload);

// An error of the same code and payloads with another message.
absl::Status Reworded(const absl::Status& status, absl::string_view message);

}  // namespace hpu

#endif  // HPU_PLUGIN_BASE_STATUS_PAYLOADS_H_
