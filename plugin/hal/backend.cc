#include "plugin/hal/backend.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hpu::hal {
namespace {

struct Entry {
  int priority;
  BackendFactory factory;
  std::unique_ptr<Backend> backend;
};

struct Scheme {
  SchemeFactory factory;
  DeviceFinder find_device;  // may be null
};

struct Registry {
  std::mutex mutex;
  std::map<std::string, Entry> entries;
  std::map<std::string, Scheme> schemes;
  std::map<std::string, std::unique_ptr<Backend>> of_schemes;  // keyed by the whole spec
};

// Never destroyed: backends hold modules until the process ends.
Registry& GetRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

// The spec that "auto" selects: the first scheme that finds a device on this machine, else the backend of the highest
// priority. The caller holds the registry's mutex.
std::string AutoSpec(const Registry& registry) {
  for (const auto& [name, scheme] : registry.schemes) {
    if (scheme.find_device == nullptr) continue;
    if (std::string spec = scheme.find_device(); !spec.empty()) return spec;
  }
  const auto found =
      std::max_element(registry.entries.begin(), registry.entries.end(),
                       [](const auto& one, const auto& other) { return one.second.priority < other.second.priority; });
  return found == registry.entries.end() ? "" : found->first;
}

// nullptr if the spec has no registered scheme. The caller holds the registry's mutex.
Backend* FindByScheme(Registry& registry, absl::string_view spec) {
  const size_t colon = spec.find(':');
  if (colon == absl::string_view::npos) return nullptr;
  const auto scheme = registry.schemes.find(std::string(spec.substr(0, colon)));
  if (scheme == registry.schemes.end()) return nullptr;
  std::unique_ptr<Backend>& backend = registry.of_schemes[std::string(spec)];
  if (backend == nullptr) backend = scheme->second.factory(spec);
  return backend.get();
}

// Minimum number of characters to insert, remove or replace to turn `from` into `to`.
size_t EditDistance(absl::string_view from, absl::string_view to) {
  std::vector<size_t> distances(to.size() + 1);
  std::iota(distances.begin(), distances.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(distances[0], i + 1);
    for (size_t j = 0; j < to.size(); ++j) {
      const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = distances[j + 1];
      distances[j + 1] = std::min({replaced, diagonal + 1, distances[j] + 1});
    }
  }
  return distances.back();
}

// "; did you mean emulator?" for a misspelt backend; empty if no name is similar.
std::string Suggestion(absl::string_view spec, const std::vector<std::string>& names) {
  constexpr size_t kLettersPerMistake = 3;
  const std::string* nearest = nullptr;
  size_t least = spec.size() / kLettersPerMistake + 1;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(spec, name);
    if (distance >= least) continue;
    least = distance;
    nearest = &name;
  }
  return nearest == nullptr ? "" : absl::StrCat("; did you mean ", *nearest, "?");
}

}  // namespace

bool RegisterBackend(const char* name, int priority, BackendFactory factory) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return registry.entries.emplace(name, Entry{priority, factory, nullptr}).second;
}

bool RegisterScheme(const char* scheme, SchemeFactory factory, DeviceFinder find_device) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  return registry.schemes.emplace(scheme, Scheme{factory, find_device}).second;
}

absl::StatusOr<Backend*> GetBackend(absl::string_view spec) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  const std::string name = spec == "auto" ? AutoSpec(registry) : std::string(spec);
  if (Backend* backend = FindByScheme(registry, name); backend != nullptr) return backend;
  const auto found = registry.entries.find(name);
  if (found == registry.entries.end()) {
    std::vector<std::string> names = {"auto"};
    for (const auto& [name, entry] : registry.entries) names.push_back(name);
    const std::string suggestion = Suggestion(spec, names);
    for (const auto& [scheme, factory] : registry.schemes) names.push_back(absl::StrCat(scheme, ":…"));
    return absl::InvalidArgumentError(
        absl::StrCat("HPU_BACKEND=", spec,
                     " is not a backend of this build; expected one of: ", absl::StrJoin(names, ", "), suggestion));
  }
  if (found->second.backend == nullptr) found->second.backend = found->second.factory();
  return found->second.backend.get();
}

std::vector<std::string> BackendNames() {
  Registry& registry = GetRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, entry] : registry.entries) names.push_back(name);
  return names;
}

}  // namespace hpu::hal
