#include "plugin/backends/emulator/kernels/one_dnn.h"

#include <atomic>

#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "tensorflow/core/util/util.h"
#include "xla/tsl/util/env_var.h"

namespace hpu::emulator {
namespace {

std::atomic<bool> pretends_bfloat16 = false;

bool HasBfloat16Instructions() { return __builtin_cpu_supports("avx512bf16") || pretends_bfloat16; }

}  // namespace

bool IsOneDnnOn() {
  static const bool on = [] {
    bool wanted = true;  // also for an invalid value, which TensorFlow reports
    tsl::ReadBoolFromEnvVar("TF_ENABLE_ONEDNN_OPTS", true, &wanted).IgnoreError();
    return tensorflow::IsMKLEnabled() || (wanted && HasAvx512());
  }();
  return on;
}

bool UsesOneDnn(const std::string& op, bool bfloat16) {
  if (bfloat16 && !HasBfloat16Instructions()) return false;
  return NativeNode(op, bfloat16 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT).op() != op;
}

PretendedBfloat16Instructions::PretendedBfloat16Instructions() { pretends_bfloat16 = true; }
PretendedBfloat16Instructions::~PretendedBfloat16Instructions() { pretends_bfloat16 = false; }

}  // namespace hpu::emulator
