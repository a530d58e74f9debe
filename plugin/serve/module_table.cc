#include "plugin/serve/module_table.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/backends/common/acquire_options.h"
#include "plugin/hal/status_macros.h"

namespace hpu::serve {
namespace {

constexpr std::chrono::milliseconds kGrace(1000);

}  // namespace

absl::StatusOr<int> ModuleTable::Claim(const hal::AcquireOptions& options, const ModuleHolder& holder) {
  HPU_ASSIGN_OR_RETURN(const std::vector<int> candidates, common::CandidateModules(options));
  std::unique_lock<std::mutex> lock(mutex_);
  int claimed = -1;
  const auto claim = [&] {
    const auto free = std::find_if(candidates.begin(), candidates.end(), [&](int id) { return !modules_.at(id).held; });
    if (free == candidates.end()) return false;
    claimed = *free;
    modules_[claimed] = {true, holder};
    return true;
  };
  if (released_.wait_for(lock, kGrace, claim)) return claimed;
  return absl::UnavailableError(absl::StrCat(
      "no HPU module is free. Held by ",
      absl::StrJoin(candidates, "; ",
                    [&](std::string* out, int id) {
                      const ModuleHolder& by = modules_[id].holder;
                      absl::StrAppend(out, "module ", id, ": pid ", by.pid, " (", by.command, ")");
                    }),
      ". End one of these processes, admit other modules (HLS_MODULE_ID, HABANA_VISIBLE_MODULES), or start the server "
      "with more (hpu serve --modules, which sets HPU_EMULATOR_MODULES)"));
}

void ModuleTable::Release(int module_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  modules_[module_id] = Module();
  released_.notify_all();
}

}  // namespace hpu::serve
