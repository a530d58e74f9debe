// Helpers that build the return values of the C interface.
#ifndef HPU_PLUGIN_C_API_C_BUFFER_H_
#define HPU_PLUGIN_C_API_C_BUFFER_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/c_api/c_api.h"

namespace hpu {

// A copy of `text`, to be freed with hpu_buffer_free. A terminating zero byte follows, which the size does not include.
inline hpu_buffer MakeBuffer(absl::string_view text) {
  auto* data = static_cast<char*>(std::malloc(text.size() + 1));
  if (data == nullptr) std::abort();
  std::memcpy(data, text.data(), text.size());
  data[text.size()] = '\0';
  return hpu_buffer{data, text.size()};
}

// Returns the status's code and copies its message to `message`, if not null.
inline int32_t ReportStatus(const absl::Status& status, hpu_buffer* message) {
  if (message != nullptr) *message = MakeBuffer(status.message());
  return static_cast<int32_t>(status.code());
}

}  // namespace hpu

#endif  // HPU_PLUGIN_C_API_C_BUFFER_H_
