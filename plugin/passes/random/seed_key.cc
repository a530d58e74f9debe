#include "plugin/passes/random/seed_key.h"

#include <cstdint>

#include "plugin/base/status_macros.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu::passes {
namespace {

using tensorflow::Node;
using tensorflow::Tensor;

// The key with which GenerateKey (TensorFlow's stateless_random_ops.cc) scrambles seeds.
constexpr uint64_t kScramblingKey = 0x02461e293ec8f720;

template <typename T>
Tensor VectorOf(std::initializer_list<T> elements) {
  Tensor tensor(tensorflow::DataTypeToEnum<T>::value, {static_cast<int64_t>(elements.size())});
  std::copy(elements.begin(), elements.end(), tensor.flat<T>().data());
  return tensor;
}

}  // namespace

absl::StatusOr<SeedKey> AddSeedKey(NodeMaker maker, tensorflow::NodeBuilder::NodeOut seed, bool lowered) {
  SeedKey result;
  HPU_ASSIGN_OR_RETURN(result.first, maker.Cast("seed", seed, tensorflow::DT_UINT64));
  if (lowered) maker.set_anchor(result.first);
  HPU_ASSIGN_OR_RETURN(Node * shape, maker.Constant("seed_shape", VectorOf<int32_t>({2})));
  HPU_ASSIGN_OR_RETURN(Node * scrambling, maker.Constant("scrambling_key", VectorOf<uint64_t>({kScramblingKey})));
  HPU_ASSIGN_OR_RETURN(Node * philox, maker.Constant("scrambling_alg", Tensor(int32_t{1})));
  tensorflow::NodeBuilder draw = maker.New("scrambled", "StatelessRandomUniformFullIntV2");
  draw.Input(shape).Input(scrambling).Input(result.first).Input(philox).Attr("dtype", tensorflow::DT_UINT64);
  HPU_ASSIGN_OR_RETURN(Node * scrambled, maker.Add(draw));
  HPU_ASSIGN_OR_RETURN(Node * begin, maker.Constant("key_begin", VectorOf<int32_t>({0})));
  HPU_ASSIGN_OR_RETURN(Node * size, maker.Constant("key_size", VectorOf<int32_t>({1})));
  tensorflow::NodeBuilder slice = maker.New("key", "Slice");
  HPU_ASSIGN_OR_RETURN(result.key, maker.Add(slice.Input(scrambled).Input(begin).Input(size)));
  // The first word of the counter is 0.
  HPU_ASSIGN_OR_RETURN(Node * mask, maker.Constant("counter_mask", VectorOf<uint64_t>({0, ~uint64_t{0}})));
  HPU_ASSIGN_OR_RETURN(result.counter, maker.Binary("counter", "BitwiseAnd", scrambled, mask));
  return result;
}

}  // namespace hpu::passes
