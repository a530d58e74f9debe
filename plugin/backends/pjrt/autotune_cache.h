// Directory for the measurements of a plugin's autotuner.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_AUTOTUNE_CACHE_H_
#define HPU_PLUGIN_BACKENDS_PJRT_AUTOTUNE_CACHE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "plugin/backends/pjrt/xla_settings.h"

namespace hpu::pjrt {

// Directory of all measurements: HPU_PJRT_AUTOTUNE_CACHE_PATH, or a folder in TF_RECIPE_CACHE_PATH. Empty: none.
std::string AutotuneCachePath();

// XLA settings that store measurements in `folder`. `read_only`: XLA reads measurements, but writes none.
XlaSettings AutotuneCacheSettings(const std::string& folder, bool read_only);

// Settings for programs with `compiler_target`; empty without a cache. XLA does not detect measurements of another card
// or plugin, so each target has its own folder. Creates the folder with access for this user only; without the folder,
// there are no settings. Nothing is created for HPU_RECIPE_CACHE_READ_ONLY.
XlaSettings AutotuneCacheSettingsFor(absl::string_view compiler_target);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_AUTOTUNE_CACHE_H_
