#include "plugin/backends/gaudi/plan/narrow_integers.h"

#include "plugin/backends/gaudi/plan/integer_arithmetic.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {

absl::StatusOr<TensorId> ToWord(PlanBuilder& builder, TensorId x, xla::PrimitiveType source) {
  if (source != xla::U16) return Cast(builder, x, synapse::syn_type_int32);
  // No kernel has the type u16.
  HPU_ASSIGN_OR_RETURN(x, Reinterpret(builder, x, synapse::syn_type_int16));
  HPU_ASSIGN_OR_RETURN(x, Cast(builder, x, synapse::syn_type_int32));
  IntegerArithmetic words(builder, synapse::syn_type_int32, builder.sizes(x).size());
  return words.Result(words.And(x, words.Constant(0xffff)));
}

absl::StatusOr<TensorId> FromWord(PlanBuilder& builder, TensorId word, xla::PrimitiveType target) {
  const int bits = xla::primitive_util::BitWidth(target);
  if (bits == 32) return word;
  // Casts may saturate, so the nodes before a cast bring the values into range.
  IntegerArithmetic words(builder, synapse::syn_type_int32, builder.sizes(word).size());
  if (target == xla::U8) {
    HPU_ASSIGN_OR_RETURN(word, words.Result(words.And(word, words.Constant(0xff))));
    return Cast(builder, word, synapse::syn_type_uint8);
  }
  HPU_ASSIGN_OR_RETURN(word, words.Result(words.ShiftRightArithmeticBy(words.ShiftLeftBy(word, 32 - bits), 32 - bits)));
  if (target == xla::S8) return Cast(builder, word, synapse::syn_type_int8);
  HPU_ASSIGN_OR_RETURN(word, Cast(builder, word, synapse::syn_type_int16));
  return target == xla::U16 ? Reinterpret(builder, word, synapse::syn_type_uint16) : word;
}

}  // namespace hpu::gaudi
