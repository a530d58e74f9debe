#include "plugin/testing/synapse_double/runtime/configuration.h"

#include <cstdlib>
#include <map>
#include <mutex>

namespace hpu::synapse_double {
namespace {

constexpr char kExperimental[] = "ENABLE_EXPERIMENTAL_FLAGS";

struct Setting {
  const char* value;
  bool is_private;
  bool is_modelled;  // the value has an effect
};

// The settings that the plugin may meet, with the double's defaults.
const std::map<std::string, Setting>& Defaults() {
  static const auto* const defaults = new std::map<std::string, Setting>{
      {kExperimental, {"false", false, true}},
      {kSectionOverlapCheck, {"true", true, true}},
      {"DETERMINISTIC_MODE", {"0", false, false}},
      {"ENABLE_HUGE_TENSOR_SLICING", {"false", false, false}},
      {"ENABLE_PARALLEL_COMPILATION", {"true", false, false}},
      {"GAUDI2_FORCE_MME_FP32_IEEE", {"false", false, false}},
      {"GRAPH_VISUALIZATION", {"0", false, false}},
      {"MAX_CONST_TENSOR_SIZE_BYTES", {"1048576", false, false}},
  };
  return *defaults;
}

std::mutex values_mutex;
std::map<std::string, std::string>& Values() {
  static auto* const values = new std::map<std::string, std::string>;
  return *values;
}

std::string ValueLocked(const std::string& name) {
  if (const auto set = Values().find(name); set != Values().end()) return set->second;
  if (const char* const variable = std::getenv(name.c_str())) return variable;
  return Defaults().at(name).value;
}

bool IsTrue(const std::string& value) { return value == "1" || value == "true"; }

synStatus RefuseUnknown(const std::string& name) {
  return Refuse(Rule::kArguments, synapse::synInvalidArgument, Text("no setting ", name));
}

}  // namespace

synStatus SetConfiguration(const std::string& name, const std::string& value) {
  const auto setting = Defaults().find(name);
  if (setting == Defaults().end()) return RefuseUnknown(name);
  std::lock_guard<std::mutex> lock(values_mutex);
  if (setting->second.is_private && !IsTrue(ValueLocked(kExperimental))) {
    return Refuse(Rule::kArguments, synapse::synInvalidArgument,
                  Text(name, " is private: it can be set after ", kExperimental, " only"));
  }
  if (!setting->second.is_modelled && value != ValueLocked(name)) {
    return Refuse(Rule::kArguments, synapse::synUnsupported, Text(name, " = ", value, " is not modelled"));
  }
  Values()[name] = value;
  return synapse::synSuccess;
}

synStatus GetConfiguration(const std::string& name, std::string* value) {
  if (Defaults().count(name) == 0) return RefuseUnknown(name);
  std::lock_guard<std::mutex> lock(values_mutex);
  *value = ValueLocked(name);
  return synapse::synSuccess;
}

bool IsConfigured(const std::string& name) {
  std::lock_guard<std::mutex> lock(values_mutex);
  return IsTrue(ValueLocked(name));
}

void ResetConfiguration() {
  std::lock_guard<std::mutex> lock(values_mutex);
  Values().clear();
}

}  // namespace hpu::synapse_double
