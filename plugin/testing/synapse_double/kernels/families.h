// Families of kernels. Each function adds one family to a registry.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_

#include "plugin/testing/synapse_double/kernels/registry.h"

namespace hpu::synapse_double {

void AddActivations(KernelRegistry* registry);
void AddBatchNormalization(KernelRegistry* registry);
void AddBinary(KernelRegistry* registry);
void AddCasts(KernelRegistry* registry);
void AddComparisons(KernelRegistry* registry);
void AddConvolutions(KernelRegistry* registry);
void AddCropAndResize(KernelRegistry* registry);
void AddCumulative(KernelRegistry* registry);
void AddDataMovement(KernelRegistry* registry);
void AddFilling(KernelRegistry* registry);
void AddGathers(KernelRegistry* registry);
void AddIntegerArithmetic(KernelRegistry* registry);
void AddLayerNormalization(KernelRegistry* registry);
void AddPadding(KernelRegistry* registry);
void AddPooling(KernelRegistry* registry);
void AddProducts(KernelRegistry* registry);
void AddRandom(KernelRegistry* registry);
void AddReductions(KernelRegistry* registry);
void AddResize(KernelRegistry* registry);
void AddScatters(KernelRegistry* registry);
void AddSlices(KernelRegistry* registry);
void AddSoftmax(KernelRegistry* registry);
void AddSorting(KernelRegistry* registry);
void AddUnary(KernelRegistry* registry);

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_FAMILIES_H_
