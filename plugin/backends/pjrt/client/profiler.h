// Profiler: profile of device activity, recorded by a PJRT plugin.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_H_
#define HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/client/plugin.h"
#include "plugin/backends/pjrt/client/profiler_api.h"

namespace hpu::pjrt {

// One profile. Thread compatible.
class Profiler {
 public:
  // `options`: serialised tensorflow.ProfileOptions. Fails with Unimplemented if the plugin has no profiler.
  static absl::StatusOr<std::unique_ptr<Profiler>> Create(const Plugin& plugin, absl::string_view options);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  absl::Status Start();
  absl::Status Stop();
  // A serialised tensorflow.profiler.XSpace. Requires Stop.
  absl::StatusOr<std::string> Collect();

 private:
  explicit Profiler(const profiler_api::Table* table) : table_(*table) {}

  absl::Status ConsumeError(profiler_api::Error* error) const;

  const profiler_api::Table& table_;
  profiler_api::Profiler* profiler_ = nullptr;
};

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_CLIENT_PROFILER_H_
