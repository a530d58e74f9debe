/* C interface of user kernels: C functions that the emulator calls. A library in GC_KERNEL_PATH exports
 * hpu_host_kernels(). Building the library requires neither TensorFlow nor the plugin. */
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
  void* data; /* read-only in inputs; null if there are no elements */
  int32_t type;
  int32_t rank;
  const int64_t* dimensions;
} hpu_host_tensor;

typedef struct hpu_host_call {
  int32_t input_count;
  int32_t output_count;
  const hpu_host_tensor* inputs;
  const hpu_host_tensor* outputs; /* share no memory with inputs */
  const void* params;             /* the bytes of NodeDesc::user_params */
  size_t params_size;
  char* message; /* buffer for an error message: UTF-8, zero-terminated, at most message_size bytes in all */
  size_t message_size;
} hpu_host_call;

/* Returns 0 for success. Called on any thread, also concurrently. */
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

/* The function that the library exports. */
__attribute__((visibility("default"))) const hpu_host_kernel_table* hpu_host_kernels(void);

#ifdef __cplusplus
}
#endif

#endif /* HPU_PLUGIN_INCLUDE_HABANALABS_HPU_HOST_KERNEL_H_ */
