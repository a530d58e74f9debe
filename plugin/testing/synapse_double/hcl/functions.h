// The double's implementation of HCCL's C functions. It is part of libSynapse.so, because the functions use streams and
// device memory. libhcl.so forwards calls to libSynapse.so (library/exports.cc).
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_FUNCTIONS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_FUNCTIONS_H_

#include "plugin/backends/gaudi/hccl/functions.h"

namespace hpu::synapse_double {

// Name of the function of libSynapse.so that returns the table.
inline constexpr char kHcclFunctions[] = "synapse_double_hccl_functions";

}  // namespace hpu::synapse_double

extern "C" __attribute__((visibility("default"))) const hpu::hccl::Functions* synapse_double_hccl_functions();

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_HCL_FUNCTIONS_H_
