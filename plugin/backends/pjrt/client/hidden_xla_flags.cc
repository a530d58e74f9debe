#include "plugin/backends/pjrt/client/hidden_xla_flags.h"

#include <unistd.h>

#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace hpu::pjrt {
namespace {

constexpr absl::string_view kPrefix = "XLA_FLAGS=";

struct Hiding {
  std::mutex mutex;
  int objects = 0;           // number of HiddenXlaFlags
  char* variable = nullptr;  // the hidden entry of environ; null if XLA_FLAGS is not set
  char replacement[32] = "HIDDEN_XLA_FLAGS=1";
};

Hiding& HidingState() {
  static auto* state = new Hiding;
  return *state;
}

// Other threads may read the entry.
void Store(char** entry, char* value) { __atomic_store_n(entry, value, __ATOMIC_RELEASE); }

}  // namespace

HiddenXlaFlags::HiddenXlaFlags() {
  Hiding& state = HidingState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.objects++ > 0) return;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (!absl::StartsWith(*entry, kPrefix)) continue;
    state.variable = *entry;
    Store(entry, state.replacement);
    return;
  }
}

HiddenXlaFlags::~HiddenXlaFlags() {
  Hiding& state = HidingState();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (--state.objects > 0 || state.variable == nullptr) return;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (*entry == state.replacement) Store(entry, state.variable);
  }
  state.variable = nullptr;
}

}  // namespace hpu::pjrt
