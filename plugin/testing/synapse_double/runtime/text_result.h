// Text results of C functions, in buffers of the caller.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TEXT_RESULT_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TEXT_RESULT_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Copies a text with its final zero. Refuses null buffers, and sizes that are too small.
inline synStatus CopyText(const std::string& text, char* buffer, int64_t size) {
  if (buffer == nullptr || size <= static_cast<int64_t>(text.size())) {
    return Refuse(
        Rule::kArguments, synapse::synInvalidArgument,
        Text("the buffer has ", buffer == nullptr ? 0 : size, " bytes, \"", text, "\" takes ", text.size() + 1));
  }
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return synapse::synSuccess;
}

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_TEXT_RESULT_H_
