/* User kernels for GC_KERNEL_PATH: y = x * scale and z = x + scale, and a kernel that fails. */
#include <stdio.h>
#include <string.h>

#include "habanalabs/hpu_host_kernel.h"

static int64_t elements_of(const hpu_host_tensor* tensor) {
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; ++i) count *= tensor->dimensions[i];
  return count;
}

static int32_t scale(const hpu_host_call* call) {
  float by;
  if (call->input_count != 1 || call->output_count != 2 || call->params_size != sizeof(by)) return 1;
  memcpy(&by, call->params, sizeof(by));
  const int64_t count = elements_of(&call->inputs[0]);
  for (int64_t i = 0; i < count; ++i) {
    if (call->inputs[0].type == HPU_FLOAT32) {
      ((float*)call->outputs[0].data)[i] = ((const float*)call->inputs[0].data)[i] * by;
      ((float*)call->outputs[1].data)[i] = ((const float*)call->inputs[0].data)[i] + by;
    } else {
      ((int32_t*)call->outputs[0].data)[i] = ((const int32_t*)call->inputs[0].data)[i] * (int32_t)by;
      ((int32_t*)call->outputs[1].data)[i] = ((const int32_t*)call->inputs[0].data)[i] + (int32_t)by;
    }
  }
  return 0;
}

static int32_t fail(const hpu_host_call* call) {
  snprintf(call->message, call->message_size, "it was asked to fail on %d dimensions", call->inputs[0].rank);
  return 7;
}

const hpu_host_kernel_table* hpu_host_kernels(void) {
  static const hpu_host_kernel kernels[] = {
      {"test_scale_fwd_f32", scale}, {"test_scale_fwd_i32", scale}, {"test_fail_fwd_f32", fail}};
  static const hpu_host_kernel_table table = {HPU_HOST_KERNEL_ABI, 3, kernels};
  return &table;
}
