// C interface of the kernels, for tests in Python.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_C_ENTRY_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_C_ENTRY_H_

#include <cstddef>
#include <cstdint>

extern "C" {

constexpr int kHpuKernelMaxRank = 8;

struct HpuKernelTensor {
  void* data;     // null: an empty slot
  uint32_t type;  // as synDataType
  uint32_t rank;
  int64_t sizes[kHpuKernelMaxRank];    // fastest dimension first
  int64_t strides[kHpuKernelMaxRank];  // in elements
};

struct HpuKernelSwitches {
  uint8_t flush_denormals;
  uint8_t lose_nan_in_max_min;
  uint64_t seed;
  uint64_t order;
};

// Runs a kernel. Returns 0, or 1 after writing the reason to `message`.
__attribute__((visibility("default"))) int run_kernel(const char* guid, const HpuKernelTensor* inputs,
                                                      size_t input_count, const HpuKernelTensor* outputs,
                                                      size_t output_count, const void* params, size_t params_size,
                                                      const HpuKernelSwitches* switches, char* message,
                                                      size_t message_size);

// Writes a line for each kernel to `text`: its stem, with * for types, and the sizes of its params' versions, 0 for
// none. Returns the bytes that the list needs.
__attribute__((visibility("default"))) size_t list_kernels(char* text, size_t size);

}  // extern "C"

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_KERNELS_C_ENTRY_H_
