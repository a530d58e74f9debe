// Compile options of PJRT clients.
#ifndef HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
#define HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_

#include <string>

namespace hpu::pjrt {

// A serialised xla::CompileOptionsProto for one device.
std::string CompileOptions();

}  // namespace hpu::pjrt

#endif  // HPU_PLUGIN_BACKENDS_PJRT_COMPILE_OPTIONS_H_
