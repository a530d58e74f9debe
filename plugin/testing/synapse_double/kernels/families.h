// Families of kernels. Each function adds one family to a registry.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_

#include "plugin/testing/synapse_double/kernels/registry.h"

namespace hpu::synapse_double {

void AddBinary(KernelRegistry* registry);
void AddCasts(KernelRegistry* registry);
void AddComparisons(KernelRegistry* registry);
void AddDataMovement(KernelRegistry* registry);
void AddFilling(KernelRegistry* registry);
void AddGathers(KernelRegistry* registry);
void AddIntegerArithmetic(KernelRegistry* registry);
void AddPadding(KernelRegistry* registry);
void AddScatters(KernelRegistry* registry);
void AddSlices(KernelRegistry* registry);
void AddUnary(KernelRegistry* registry);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_
