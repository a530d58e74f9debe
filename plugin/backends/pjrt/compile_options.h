// Compile options of PJRT clients.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace hpu::pjrt {

// A serialised xla::CompileOptionsProto for one device of `platform` ("cpu", "cuda").
std::string CompileOptions(absl::string_view platform);

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
