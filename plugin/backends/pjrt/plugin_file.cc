#include "plugin/backends/pjrt/plugin_file.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tensorflow/c/c_api.h"

namespace hpu::pjrt {
namespace {

struct KnownPlugin {
  absl::string_view name;
  std::vector<absl::string_view> files;  // in a folder of Python packages, in the order of preference
  absl::string_view remedy;
};

const std::vector<KnownPlugin>& KnownPlugins() {
  static const auto* plugins = new std::vector<KnownPlugin>{
      {"cpu",
       {"lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
       "pip install 'hpu-tensorflow[pjrt-cpu]', or in a source tree pip install '.[pjrt-cpu]'"},
      {"cuda",
       {"jax_plugins/xla_cuda13/xla_cuda_plugin.so", "jax_plugins/xla_cuda12/xla_cuda_plugin.so"},
       "pip install 'hpu-tensorflow[cuda13]' or 'hpu-tensorflow[cuda12]', or in a source tree pip install "
       "'.[cuda13]'"}};
  return *plugins;
}

}  // namespace

std::vector<std::string> PackageFolders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("PYTHONPATH")) {
    for (absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) folders.emplace_back(folder);
  }
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(&TF_Version), &library) != 0 && library.dli_fname != nullptr) {
    std::error_code ignored;
    const std::filesystem::path file = std::filesystem::canonical(library.dli_fname, ignored);
    if (!ignored) folders.push_back(file.parent_path().parent_path().string());
  }
  return folders;
}

absl::StatusOr<std::string> PluginFile(absl::string_view name, const std::vector<std::string>& folders) {
  if (absl::StrContains(name, '/')) return std::string(name);
  std::vector<absl::string_view> names;
  for (const KnownPlugin& plugin : KnownPlugins()) {
    names.push_back(plugin.name);
    if (plugin.name != name) continue;
    for (const absl::string_view file : plugin.files) {
      for (const std::string& folder : folders) {
        std::string path = absl::StrCat(folder, "/", file);
        if (access(path.c_str(), F_OK) == 0) return path;
      }
    }
    return absl::NotFoundError(absl::StrCat("HPU_BACKEND=pjrt:", name, ": no plugin (",
                                            absl::StrJoin(plugin.files, ", "), ") in ", absl::StrJoin(folders, ", "),
                                            "; install it with ", plugin.remedy,
                                            ", or set HPU_BACKEND=pjrt:/path/of/the/plugin.so"));
  }
  return absl::InvalidArgumentError(absl::StrCat("HPU_BACKEND=pjrt:", name, " is not a known plugin; expected one of ",
                                                 absl::StrJoin(names, ", "), ", or the path of a plugin"));
}

bool IsForCpu(absl::string_view file) {
  return absl::StrContains(std::filesystem::path(std::string(file)).filename().string(), "cpu");
}

}  // namespace hpu::pjrt
