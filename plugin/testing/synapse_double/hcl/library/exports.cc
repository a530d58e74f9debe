// C functions of libhcl.so: forward to the libSynapse.so of the same folder, which the process has loaded.
#include <dlfcn.h>

#include <string>

#include "plugin/testing/synapse_double/hcl/functions.h"

namespace hpu::hccl {
namespace {

// The functions of libSynapse.so; null if it is not loaded.
const Functions* Find() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&Find), &self) == 0) return nullptr;
  std::string path = self.dli_fname;
  path = path.substr(0, path.rfind('/') + 1) + "libSynapse.so";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto get =
      reinterpret_cast<decltype(&synapse_double_hccl_functions)>(dlsym(library, synapse_double::kHcclFunctions));
  return get == nullptr ? nullptr : get();
}

}  // namespace

#define SYNAPSE_DOUBLE_FORWARD(name, parameters, arguments)                       \
  extern "C" __attribute__((visibility("default"))) hcclResult_t name parameters; \
  hcclResult_t name parameters {                                                  \
    const Functions* const functions = Find();                                    \
    return functions == nullptr ? hcclUninitialized : functions->name arguments;  \
  }

HPU_HCCL_REQUIRED(SYNAPSE_DOUBLE_FORWARD)
HPU_HCCL_OPTIONAL(SYNAPSE_DOUBLE_FORWARD)

extern "C" __attribute__((visibility("default"))) const char* hcclGetErrorString(hcclResult_t result);
const char* hcclGetErrorString(hcclResult_t result) { return ResultName(result); }

}  // namespace hpu::hccl
