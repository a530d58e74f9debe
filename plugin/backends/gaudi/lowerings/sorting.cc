#include "plugin/backends/gaudi/lowerings/sorting.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/lowerings/indexing.h"
#include "plugin/backends/gaudi/plan/element_types.h"
#include "plugin/backends/gaudi/plan/nodes.h"
#include "plugin/backends/gaudi/plan/wide_integers.h"
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/base/status_macros.h"
#include "xla/primitive_util.h"

namespace hpu::gaudi {
namespace {

// Integers below 2^24 are exact in f32.
constexpr int kExactBits = 24;

absl::StatusOr<TensorId> BitwiseWith(PlanBuilder& builder, absl::string_view stem, TensorId x, int64_t bits) {
  HPU_ASSIGN_OR_RETURN(const TensorId scalar, IntegerScalar(builder, builder.type(x), bits, builder.sizes(x).size()));
  return Elementwise(builder, stem, {x, scalar});
}

// Words that sort like the floats: flips all bits of negative floats, and only the sign bit of positive floats.
absl::StatusOr<KeyWord> FloatWord(PlanBuilder& builder, TensorId keys, bool total_order) {
  if (!total_order) {
    HPU_ASSIGN_OR_RETURN(const TensorId zero, ScalarLike(builder, keys, 0));
    HPU_ASSIGN_OR_RETURN(const TensorId is_zero, Compare(builder, "equal_fwd", keys, zero));
    HPU_ASSIGN_OR_RETURN(keys, Where(builder, is_zero, zero, keys));
  }
  const int bits = 8 * static_cast<int>(BytesOf(builder.type(keys)));
  HPU_ASSIGN_OR_RETURN(TensorId word,
                       Reinterpret(builder, keys, bits == 32 ? synapse::syn_type_int32 : synapse::syn_type_int16));
  HPU_ASSIGN_OR_RETURN(word, Cast(builder, word, synapse::syn_type_int32));
  HPU_ASSIGN_OR_RETURN(const TensorId is_negative, ShiftBy(builder, word, 31, /*left=*/false));
  HPU_ASSIGN_OR_RETURN(const TensorId flipped,
                       BitwiseWith(builder, "bitwise_or_fwd", is_negative, -(int64_t{1} << (bits - 1))));
  HPU_ASSIGN_OR_RETURN(word, Elementwise(builder, "bitwise_xor_fwd", {word, flipped}));
  if (bits < 32) {
    HPU_ASSIGN_OR_RETURN(word, BitwiseWith(builder, "bitwise_and_fwd", word, (int64_t{1} << bits) - 1));
  }
  return KeyWord{word, bits};
}

// Bits `begin` to `end` of the words, above the positions of the elements, in f32.
absl::StatusOr<TensorId> Digits(PlanBuilder& builder, TensorId word, int begin, int end, bool descending,
                                int position_bits) {
  const int64_t mask = (int64_t{1} << (end - begin)) - 1;
  HPU_ASSIGN_OR_RETURN(TensorId digit, ShiftBy(builder, word, begin, /*left=*/false));
  HPU_ASSIGN_OR_RETURN(digit, BitwiseWith(builder, "bitwise_and_fwd", digit, mask));
  if (descending) {
    HPU_ASSIGN_OR_RETURN(digit, BitwiseWith(builder, "bitwise_xor_fwd", digit, mask));
  }
  HPU_ASSIGN_OR_RETURN(digit, ShiftBy(builder, digit, position_bits, /*left=*/true));
  HPU_ASSIGN_OR_RETURN(TensorId position, Range(builder, builder.sizes(word)[0]));
  HPU_ASSIGN_OR_RETURN(position, Reshape(builder, position, {builder.sizes(word)[0], 1}));
  HPU_ASSIGN_OR_RETURN(digit, Elementwise(builder, "bitwise_or_fwd", {digit, position}));
  return Cast(builder, digit, synapse::syn_type_float);
}

// Positions of the `count` smallest elements of each column.
absl::StatusOr<TensorId> SmallestPositions(PlanBuilder& builder, TensorId x, uint64_t count) {
  synapse::synBeamParams params = {};
  params.bsw = static_cast<uint32_t>(count);
  params.axis = 0;
  params.bottomK = true;
  const Sizes sizes = {count, builder.sizes(x)[1]};
  HPU_ASSIGN_OR_RETURN(
      const std::vector<TensorId> results,
      builder.AddNode("topk", {x}, {{builder.type(x), sizes}, {synapse::syn_type_int32, sizes}}, ParamsBytes(params)));
  return results[1];
}

}  // namespace

absl::StatusOr<std::vector<KeyWord>> KeyWords(PlanBuilder& builder, TensorId keys, xla::PrimitiveType type,
                                              bool total_order) {
  if (xla::primitive_util::IsFloatingPointType(type)) {
    HPU_ASSIGN_OR_RETURN(const KeyWord word, FloatWord(builder, keys, total_order));
    return std::vector<KeyWord>{word};
  }
  const bool is_signed = xla::primitive_util::IsSignedIntegralType(type);
  if (BytesOf(builder.type(keys)) == 8) {
    const Sizes sizes = builder.sizes(keys);
    HPU_ASSIGN_OR_RETURN(Halves halves, Split(builder, keys));
    HPU_ASSIGN_OR_RETURN(halves.low, Broadcast(builder, halves.low, sizes));
    HPU_ASSIGN_OR_RETURN(halves.high, Broadcast(builder, halves.high, sizes));
    if (is_signed) {
      HPU_ASSIGN_OR_RETURN(halves.high, FlipSign(builder, halves.high));
    }
    return std::vector<KeyWord>{{halves.low, 32}, {halves.high, 32}};
  }
  TensorId word = keys;
  if (BytesOf(builder.type(keys)) == 4) {
    if (is_signed) {
      HPU_ASSIGN_OR_RETURN(word, FlipSign(builder, word));
    }
    return std::vector<KeyWord>{{word, 32}};
  }
  const int bits = 8 * static_cast<int>(BytesOf(builder.type(keys)));
  HPU_ASSIGN_OR_RETURN(word, ToIndex(builder, word, type == xla::PRED ? xla::S8 : type));
  if (is_signed) {
    HPU_ASSIGN_OR_RETURN(word, AddNumber(builder, word, int64_t{1} << (bits - 1)));
  }
  return std::vector<KeyWord>{{word, type == xla::PRED ? 1 : bits}};
}

absl::StatusOr<TensorId> SortedPositions(PlanBuilder& builder, const std::vector<KeyWord>& words, bool descending,
                                         uint64_t count) {
  const uint64_t size = builder.sizes(words.front().word)[0];
  const int position_bits = std::max<int>(1, static_cast<int>(absl::bit_width(size - 1)));
  const int digit_bits = kExactBits - position_bits;
  if (digit_bits < 1) {
    return absl::UnimplementedError(absl::StrCat("sorts of ", size, " elements are too large: the maximum is 2^23"));
  }
  TensorId positions = kNoTensor;
  for (size_t i = 0; i < words.size(); ++i) {
    for (int begin = 0; begin < words[i].bits; begin += digit_bits) {
      TensorId word = words[i].word;
      if (positions != kNoTensor) {
        HPU_ASSIGN_OR_RETURN(word, GatherElements(builder, word, positions));
      }
      const int end = std::min(words[i].bits, begin + digit_bits);
      HPU_ASSIGN_OR_RETURN(const TensorId digits, Digits(builder, word, begin, end, descending, position_bits));
      const bool is_last = i + 1 == words.size() && end == words[i].bits;
      HPU_ASSIGN_OR_RETURN(const TensorId order, SmallestPositions(builder, digits, is_last ? count : size));
      if (positions == kNoTensor) {
        positions = order;
      } else {
        HPU_ASSIGN_OR_RETURN(positions, GatherElements(builder, positions, order));
      }
    }
  }
  return positions;
}

}  // namespace hpu::gaudi
