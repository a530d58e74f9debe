// Marks attention in programs (plugin/program/marked_call.h).
#ifndef HPU_PLUGIN_COMPILER_ATTENTION_MARKS_H_
#define HPU_PLUGIN_COMPILER_ATTENTION_MARKS_H_

#include "absl/status/status.h"
#include "xla/service/hlo.pb.h"

namespace hpu {

// Moves each group of instructions that computes attention to a marked call: a batch of products (the scores),
// elementwise instructions (scales, masks), the softmax of the last dimension, and the products with the values. Groups
// whose scores or probabilities have other users stay as they are, as in the forward part of a train step, whose
// gradient reads the probabilities. Finds groups of all computations. Programs without exponentials are not parsed.
absl::Status MarkAttention(xla::HloModuleProto* program);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_ATTENTION_MARKS_H_
