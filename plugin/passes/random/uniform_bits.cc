#include "plugin/passes/random/uniform_bits.h"

#include <cmath>
#include <optional>

#include "plugin/base/status_macros.h"

namespace hpu::passes {
namespace {

using tensorflow::DataType;
using tensorflow::Node;
using tensorflow::Tensor;

// Bit layout of a floating-point number in [1, 2): the lowest bits are random, all other bits equal the bits of 1.
struct Format {
  DataType type;
  DataType bits;  // the unsigned type of the same size
  uint32_t random_bits;
  uint32_t one;
};

std::optional<Format> FormatOf(DataType type) {
  switch (type) {
    case tensorflow::DT_FLOAT:
      return Format{type, tensorflow::DT_UINT32, 0x7fffff, 0x3f800000};
    case tensorflow::DT_BFLOAT16:
      return Format{type, tensorflow::DT_UINT16, 0x7f, 0x3f80};
    case tensorflow::DT_HALF:
      return Format{type, tensorflow::DT_UINT16, 0x3ff, 0x3c00};
    default:
      return std::nullopt;
  }
}

Tensor Scalar(DataType type, double value) {
  Tensor tensor(type, {});
  switch (type) {
    case tensorflow::DT_FLOAT:
      tensor.scalar<float>()() = static_cast<float>(value);
      break;
    case tensorflow::DT_BFLOAT16:
      tensor.scalar<tensorflow::bfloat16>()() = static_cast<tensorflow::bfloat16>(value);
      break;
    case tensorflow::DT_HALF:
      tensor.scalar<Eigen::half>()() = static_cast<Eigen::half>(value);
      break;
    case tensorflow::DT_INT64:
      tensor.scalar<int64_t>()() = static_cast<int64_t>(value);
      break;
    default:
      tensor.scalar<int32_t>()() = static_cast<int32_t>(value);
  }
  return tensor;
}

Tensor Vector(DataType type, int32_t value) {
  Tensor tensor(type, {1});
  if (type == tensorflow::DT_INT64) {
    tensor.flat<int64_t>()(0) = value;
  } else {
    tensor.flat<int32_t>()(0) = value;
  }
  return tensor;
}

absl::StatusOr<Node*> AddBits(const NodeMaker& maker, const Draw& draw, tensorflow::NodeBuilder::NodeOut shape) {
  HPU_ASSIGN_OR_RETURN(Node * philox, maker.Constant("alg", Tensor(int32_t{1})));
  tensorflow::NodeBuilder builder = maker.New("bits", "StatelessRandomUniformFullIntV2");
  builder.Input(shape).Input(draw.key).Input(draw.counter).Input(philox).Attr("dtype", tensorflow::DT_UINT32);
  return maker.Add(builder);
}

// Adds nodes that convert random 32-bit words to numbers in [0, 1).
absl::StatusOr<Node*> AddFraction(const NodeMaker& maker, const Format& format, Node* bits) {
  HPU_ASSIGN_OR_RETURN(Node * mask, maker.Constant("random_bits", Tensor(format.random_bits)));
  HPU_ASSIGN_OR_RETURN(Node * one_bits, maker.Constant("exponent", Tensor(format.one)));
  HPU_ASSIGN_OR_RETURN(Node * word, maker.Binary("mantissa", "BitwiseAnd", bits, mask));
  HPU_ASSIGN_OR_RETURN(word, maker.Binary("word", "BitwiseOr", word, one_bits));
  if (format.bits != tensorflow::DT_UINT32) {
    HPU_ASSIGN_OR_RETURN(word, maker.Cast("half_word", word, format.bits));
  }
  HPU_ASSIGN_OR_RETURN(Node * number, maker.Bitcast("one_to_two", word, format.type));
  HPU_ASSIGN_OR_RETURN(Node * one, maker.Constant("one", Scalar(format.type, 1)));
  return maker.Binary("fraction", "Sub", number, one);
}

// Adds the shape [pairs, 2], where `pairs` is count / 2, rounded up.
absl::StatusOr<Node*> AddPairShape(const NodeMaker& maker, Node* count, DataType type) {
  HPU_ASSIGN_OR_RETURN(Node * one, maker.Constant("1", Scalar(type, 1)));
  HPU_ASSIGN_OR_RETURN(Node * two, maker.Constant("2", Scalar(type, 2)));
  HPU_ASSIGN_OR_RETURN(Node * pairs, maker.Binary("count_up", "AddV2", count, one));
  HPU_ASSIGN_OR_RETURN(pairs, maker.Binary("pairs", "FloorDiv", pairs, two));
  tensorflow::NodeBuilder builder = maker.New("pair_shape", "Pack");
  builder.Input(std::vector<tensorflow::NodeBuilder::NodeOut>{pairs, two}).Attr("N", 2).Attr("axis", 0);
  return maker.Add(builder);
}

// Adds the first `count` numbers of `pairs`, reshaped to draw.shape.
absl::StatusOr<Node*> AddUnpaired(const NodeMaker& maker, Node* pairs, Node* count, const Draw& draw, DataType type) {
  HPU_ASSIGN_OR_RETURN(Node * all, maker.Constant("all", Vector(type, -1)));
  HPU_ASSIGN_OR_RETURN(Node * flat, maker.Binary("flat", "Reshape", pairs, all));
  HPU_ASSIGN_OR_RETURN(Node * zero, maker.Constant("begin", Vector(type, 0)));
  HPU_ASSIGN_OR_RETURN(Node * vector, maker.Constant("vector", Vector(type, 1)));
  HPU_ASSIGN_OR_RETURN(Node * size, maker.Binary("size", "Reshape", count, vector));
  tensorflow::NodeBuilder slice = maker.New("first", "Slice");
  HPU_ASSIGN_OR_RETURN(Node * first, maker.Add(slice.Input(flat).Input(zero).Input(size)));
  tensorflow::NodeBuilder shaped = maker.New("shaped", "Reshape");
  return maker.Add(shaped.Input(first).Input(draw.shape));
}

absl::StatusOr<Node*> AddUnary(const NodeMaker& maker, const std::string& suffix, const std::string& op, Node* x) {
  tensorflow::NodeBuilder builder = maker.New(suffix, op);
  return maker.Add(builder.Input(x));
}

// Adds the Box-Muller transform of pairs of words, as in TensorFlow's random_distributions.h.
absl::StatusOr<Node*> AddBoxMuller(const NodeMaker& maker, Node* words) {
  constexpr double kSmallest = 1.0e-7;
  const Format format = *FormatOf(tensorflow::DT_FLOAT);
  HPU_ASSIGN_OR_RETURN(Node * fractions, AddFraction(maker, format, words));
  tensorflow::NodeBuilder builder = maker.New("two", "Unpack");
  HPU_ASSIGN_OR_RETURN(Node * two, maker.Add(builder.Input(fractions).Attr("num", 2).Attr("axis", 1)));
  HPU_ASSIGN_OR_RETURN(Node * smallest, maker.Constant("smallest", Scalar(tensorflow::DT_FLOAT, kSmallest)));
  tensorflow::NodeBuilder maximum = maker.New("u1", "Maximum");
  HPU_ASSIGN_OR_RETURN(Node * u1, maker.Add(maximum.Input(two, 0).Input(smallest)));
  HPU_ASSIGN_OR_RETURN(Node * turn, maker.Constant("turn", Scalar(tensorflow::DT_FLOAT, 2 * M_PI)));
  tensorflow::NodeBuilder angle_builder = maker.New("angle", "Mul");
  HPU_ASSIGN_OR_RETURN(Node * angle, maker.Add(angle_builder.Input(two, 1).Input(turn)));
  HPU_ASSIGN_OR_RETURN(Node * minus_two, maker.Constant("minus_two", Scalar(tensorflow::DT_FLOAT, -2)));
  HPU_ASSIGN_OR_RETURN(Node * radius, AddUnary(maker, "log", "Log", u1));
  HPU_ASSIGN_OR_RETURN(radius, maker.Binary("square", "Mul", radius, minus_two));
  HPU_ASSIGN_OR_RETURN(radius, AddUnary(maker, "radius", "Sqrt", radius));
  HPU_ASSIGN_OR_RETURN(Node * sine, AddUnary(maker, "sine", "Sin", angle));
  HPU_ASSIGN_OR_RETURN(Node * cosine, AddUnary(maker, "cosine", "Cos", angle));
  HPU_ASSIGN_OR_RETURN(Node * x, maker.Binary("x", "Mul", sine, radius));
  HPU_ASSIGN_OR_RETURN(Node * y, maker.Binary("y", "Mul", cosine, radius));
  tensorflow::NodeBuilder pack = maker.New("pairs_of_numbers", "Pack");
  pack.Input(std::vector<tensorflow::NodeBuilder::NodeOut>{x, y}).Attr("N", 2).Attr("axis", 1);
  return maker.Add(pack);
}

}  // namespace

bool CanConvertBits(DataType dtype) { return FormatOf(dtype).has_value(); }

absl::StatusOr<Node*> AddUniform(const NodeMaker& maker, const Draw& draw) {
  HPU_ASSIGN_OR_RETURN(Node * bits, AddBits(maker, draw, draw.shape));
  return AddFraction(maker, *FormatOf(draw.dtype), bits);
}

absl::StatusOr<Node*> AddNormal(const NodeMaker& maker, const Draw& draw) {
  const DataType size_type = draw.shape.node->output_type(draw.shape.index);
  HPU_ASSIGN_OR_RETURN(Node * axis, maker.Constant("axis", Tensor(int32_t{0})));
  tensorflow::NodeBuilder product = maker.New("count", "Prod");
  HPU_ASSIGN_OR_RETURN(Node * count, maker.Add(product.Input(draw.shape).Input(axis)));
  HPU_ASSIGN_OR_RETURN(Node * pair_shape, AddPairShape(maker, count, size_type));
  HPU_ASSIGN_OR_RETURN(Node * bits, AddBits(maker, draw, pair_shape));
  HPU_ASSIGN_OR_RETURN(Node * pairs, AddBoxMuller(maker, bits));
  HPU_ASSIGN_OR_RETURN(Node * numbers, AddUnpaired(maker, pairs, count, draw, size_type));
  if (draw.dtype == tensorflow::DT_FLOAT) return numbers;
  return maker.Cast("cast", numbers, draw.dtype);
}

}  // namespace hpu::passes
