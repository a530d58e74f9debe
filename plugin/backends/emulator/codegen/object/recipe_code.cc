#include "plugin/backends/emulator/codegen/recipe_code.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/emulator/codegen/one_device.h"
#include "xla/executable_run_options.h"
#include "xla/service/custom_call_status_internal.h"

namespace hpu::emulator {
namespace {

// The signature of code that XLA's CPU compiler generates.
using EntryFunction = void (*)(void* result, const xla::ExecutableRunOptions* options, const void** arguments,
                               void** buffers, XlaCustomCallStatus* status, int64_t* profile_counters);

}  // namespace

absl::Status CodeTables::Call(void* entry, const std::vector<BufferSlot>& slots, size_t results, const CodeCall& call,
                              int64_t* counters) {
  const size_t results_end = (results + 1) & ~size_t{1};
  if (tables_.size() < results_end + slots.size()) tables_.resize(results_end + slots.size());
  void** const buffers = tables_.data() + results_end;
  for (size_t i = 0; i < slots.size(); ++i) buffers[i] = AddressOf(slots[i], call, tables_.data());
  xla::ExecutableRunOptions options;
  options.set_intra_op_thread_pool(call.pool.device());
  options.set_device_ordinal(0);
  options.set_device_assignment(OneDevice());
  XlaCustomCallStatus status;
  reinterpret_cast<EntryFunction>(entry)(nullptr, &options, nullptr, buffers, &status, counters);
  const std::optional<absl::string_view> message = xla::CustomCallStatusGetMessage(&status);
  return message.has_value() ? absl::InternalError(absl::StrCat("custom call failed: ", *message)) : absl::OkStatus();
}

}  // namespace hpu::emulator
