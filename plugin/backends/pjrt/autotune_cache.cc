#include "plugin/backends/pjrt/autotune_cache.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "plugin/base/files/make_directories.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/compat/sha256.h"

namespace hpu::pjrt {
namespace {

constexpr char kFolder[] = "/autotune";  // in TF_RECIPE_CACHE_PATH
constexpr size_t kDigits = 16;           // of the digest in a folder's name

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// Creates the folder and its parents, as the recipe cache does. Returns false if there is no folder afterwards.
bool MakeFolders(const std::string& path) {
  if (files::MakeDirectories(path, 0700)) return true;
  HPU_LOG(kBackend, kWarning) << "autotuning is not cached: cannot create " << path << ": " << std::strerror(errno)
                              << "; correct HPU_PJRT_AUTOTUNE_CACHE_PATH, or set it to off";
  return false;
}

}  // namespace

std::string AutotuneCachePath() {
  const std::string path = flags::PjrtAutotuneCachePath();
  if (path == "off") return "";
  if (!path.empty()) return path;
  const std::string recipes = flags::TfRecipeCachePath();
  return recipes.empty() ? "" : absl::StrCat(recipes, kFolder);
}

XlaSettings AutotuneCacheSettings(const std::string& folder, bool read_only) {
  return {{"xla_gpu_per_fusion_autotune_cache_dir", {folder}},
          {"xla_gpu_experimental_autotune_cache_mode",
           {read_only ? "AUTOTUNE_CACHE_MODE_READ" : "AUTOTUNE_CACHE_MODE_UPDATE"}}};
}

XlaSettings AutotuneCacheSettingsFor(absl::string_view compiler_target) {
  const std::string path = AutotuneCachePath();
  if (path.empty()) return {};
  const std::string folder = absl::StrCat(path, "/", Hex(Sha256({compiler_target})).substr(0, kDigits));
  const bool read_only = flags::RecipeCacheReadOnly();
  const bool exists = read_only ? IsFolder(folder) : MakeFolders(folder);
  return exists ? AutotuneCacheSettings(folder, read_only) : XlaSettings();
}

}  // namespace hpu::pjrt
