/* Kernels of a user's own, as functions that the emulator calls. A library that GC_KERNEL_PATH names exports
 * hpu_host_kernels(). Plain C: neither TensorFlow nor the plugin is needed to build one. */
#ifndef HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HOST_KERNEL_H_
#define HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HOST_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HPU_HOST_KERNEL_ABI 1

enum hpu_host_type {
  HPU_FLOAT32 = 1,
  HPU_BFLOAT16 = 2,
  HPU_INT32 = 3,
  HPU_INT8 = 4,
  HPU_BOOL = 5, /* a byte, 0 or 1 */
  HPU_INT16 = 6,
  HPU_UINT8 = 7
};

/* Dense and row-major. */
typedef struct hpu_host_tensor {
  void* data; /* not to be written to in inputs; null without elements */
  int32_t type;
  int32_t rank;
  const int64_t* dimensions;
} hpu_host_tensor;

typedef struct hpu_host_call {
  int32_t input_count;
  int32_t output_count;
  const hpu_host_tensor* inputs;
  const hpu_host_tensor* outputs; /* share no memory with inputs */
  const void* params;             /* as NodeDesc had them */
  size_t params_size;
  char* message; /* for what went wrong: UTF-8, ends in a zero byte, at most message_size with it */
  size_t message_size;
} hpu_host_call;

/* 0 if all is well. Called on any thread, on several at once. */
typedef int32_t (*hpu_host_function)(const hpu_host_call* call);

typedef struct hpu_host_kernel {
  const char* guid; /* "customdiv_fwd_f32" */
  hpu_host_function function;
} hpu_host_kernel;

typedef struct hpu_host_kernel_table {
  int32_t abi; /* HPU_HOST_KERNEL_ABI */
  int32_t count;
  const hpu_host_kernel* kernels; /* lives as long as the process */
} hpu_host_kernel_table;

/* What the library exports. */
__attribute__((visibility("default"))) const hpu_host_kernel_table* hpu_host_kernels(void);

#ifdef __cplusplus
}
#endif

#endif /* HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HOST_KERNEL_H_ */
