// C functions: start and end of the library, versions, settings, descriptions of statuses.
#include "plugin/testing/synapse_double/runtime/process.h"

#include <string>

#include "plugin/backends/gaudi/synapse/status_names.h"
#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/configuration.h"
#include "plugin/testing/synapse_double/runtime/release.h"
#include "plugin/testing/synapse_double/runtime/switches.h"
#include "plugin/testing/synapse_double/runtime/text_result.h"

namespace hpu::synapse {

using synapse_double::CopyText;
using synapse_double::Refuse;
using synapse_double::Rule;

synStatus synInitialize() {
  SYNAPSE_DOUBLE_CALL_AT_ANY_TIME();
  return synapse_double::Initialize();
}

synStatus synDestroy() {
  SYNAPSE_DOUBLE_CALL();
  return synapse_double::Destroy();
}

synStatus synDriverGetVersion(char* version, const int length) {
  SYNAPSE_DOUBLE_CALL_AT_ANY_TIME();
  const std::string& chosen = synapse_double::GetSwitches().version;
  return CopyText(chosen.empty() ? synapse_double::ThisRelease().version : chosen, version, length);
}

synStatus synConfigurationSet(const char* name, const char* value) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(name);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(value);
  return synapse_double::SetConfiguration(name, value);
}

synStatus synConfigurationGet(const char* name, char* value, uint64_t size) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(name);
  std::string text;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(synapse_double::GetConfiguration(name, &text));
  return CopyText(text, value, size);
}

#ifndef SYNAPSE_DOUBLE_1_5

synStatus synStatusGetBriefDescription(synStatus status, char* description, size_t length) {
  SYNAPSE_DOUBLE_CALL();
  if (status > synResourceBadUsage) {
    return Refuse(Rule::kArguments, synInvalidArgument,
                  synapse_double::Text("no status ", static_cast<uint32_t>(status)));
  }
  return CopyText(std::string(StatusName(status)), description, length);
}

// The double's kernels count as one library.
synStatus synTPCLibraryGetVersionSize(uint32_t* count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  *count = 1;
  return synSuccess;
}

synStatus synTPCLibraryGetVersions(const char** libraries, uint32_t* versions) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(libraries);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(versions);
  libraries[0] = "libsynapse_double_kernels.so";
  versions[0] = 1;
  return synSuccess;
}

#endif

}  // namespace hpu::synapse
