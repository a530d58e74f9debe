// Gathers. Random indices are -9 to 9 (unsigned: 0 to 18), so that many are out of range.
#include <limits>

#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace gathers_test {

class GatherTest : public ProgramTest {};

TEST_P(GatherTest, RowsOfATable) {
  for (const char* type : {"f32", "bf16", "s32", "s64", "u32", "s8", "u8", "s16", "u16", "pred"}) {
    ExpectSameAsEvaluator(
        absl::Substitute("HloModule m\nENTRY e { x = $0[5,4] parameter(0)\n i = s32[2,3] parameter(1)\n"
                         "ROOT r = $0[2,3,4] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, "
                         "start_index_map={0}, index_vector_dim=2, slice_sizes={1,4} }",
                         type),
        0);
  }
}

TEST_P(GatherTest, IndicesOfAllTypesAreClamped) {
  for (const char* type : {"s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"}) {
    ExpectSameAsEvaluator(absl::Substitute("HloModule m\nENTRY e { x = f32[5,4] parameter(0)\n i = $0[6] parameter(1)\n"
                                           "ROOT r = f32[6,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                                           "start_index_map={0}, index_vector_dim=1, slice_sizes={1,4} }",
                                           type),
                          0);
  }
}

TEST_P(GatherTest, LargeIndicesAreClamped) {
  constexpr char kProgram[] =
      "HloModule m\nENTRY e { x = f32[5] parameter(0)\n i = $0[4] parameter(1)\n"
      "ROOT r = f32[4] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1} }";
  const xla::Literal x = xla::LiteralUtil::CreateR1<float>({1, 2, 3, 4, 5});
  const auto expect = [&](const char* type, const xla::Literal& indices) {
    std::vector<xla::Literal> arguments;
    arguments.push_back(x.Clone());
    arguments.push_back(indices.Clone());
    ExpectSameAsEvaluator(absl::Substitute(kProgram, type), arguments, 0);
  };
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  expect("s64", xla::LiteralUtil::CreateR1<int64_t>({kMin, kMax, int64_t{1} << 32, -(int64_t{1} << 32) + 1}));
  expect("s64", xla::LiteralUtil::CreateR1<int64_t>({int64_t{1} << 31, 3, -1, 0x1'0000'0002}));
  expect("u64", xla::LiteralUtil::CreateR1<uint64_t>({~uint64_t{0}, uint64_t{1} << 63, uint64_t{1} << 31, 2}));
  expect("u32", xla::LiteralUtil::CreateR1<uint32_t>({~uint32_t{0}, uint32_t{1} << 31, 2, 7}));
  expect("s32", xla::LiteralUtil::CreateR1<int32_t>(
                    {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), 2, -2}));
}

TEST_P(GatherTest, SeveralIndexDimensions) {
  // tf.gather_nd.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[5,3,2] parameter(0)\n i = s32[4,2] parameter(1)\n"
      "ROOT r = f32[4,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, "
      "index_vector_dim=1, slice_sizes={1,1,2} }",
      0);
  // Components of an index in another order, and indices along the first dimension.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[5,3,2] parameter(0)\n i = s32[2,4] parameter(1)\n"
      "ROOT r = f32[3,4] gather(x, i), offset_dims={0}, collapsed_slice_dims={0,2}, start_index_map={2,0}, "
      "index_vector_dim=0, slice_sizes={1,3,1} }",
      0);
  // tf.gather with batch_dims.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,3,5,4] parameter(0)\n i = s32[2,3,2] parameter(1)\n"
      "ROOT r = f32[2,3,3,4] gather(x, i), offset_dims={1,3}, collapsed_slice_dims={0,2}, start_index_map={0,2}, "
      "index_vector_dim=2, slice_sizes={1,3,1,4} }",
      0);
}

TEST_P(GatherTest, Windows) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[7,4] parameter(0)\n i = s32[5,1] parameter(1)\n"
      "ROOT r = f32[5,3,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={3,4} }",
      0);
  // The window covers part of a dimension that is not in start_index_map.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[7,4] parameter(0)\n i = s32[5,1] parameter(1)\n"
      "ROOT r = f32[5,3,2] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={3,2} }",
      0);
  // Indices of a dimension that the window covers have no effect.
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[7,4] parameter(0)\n i = s32[5,2] parameter(1)\n"
      "ROOT r = f32[7,2,5] gather(x, i), offset_dims={0,1}, collapsed_slice_dims={}, start_index_map={0,1}, "
      "index_vector_dim=1, slice_sizes={7,2} }",
      0);
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[3,4] parameter(0)\n i = s32[5,1] parameter(1)\n"
      "ROOT r = f32[5,3,4] gather(x, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={3,4} }",
      0);
}

// tf.image.resize: windows of two dimensions, a result of rank 6.
TEST_P(GatherTest, WindowsOfAnImage) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[2,4,5,3] parameter(0)\n i = s32[4,3,2] parameter(1)\n"
      "g = f32[2,3,2,3,4,3] gather(x, i), offset_dims={0,1,2,3}, collapsed_slice_dims={}, start_index_map={1,2}, "
      "index_vector_dim=2, slice_sizes={2,3,2,3}\n t = f32[4,3,2,3,2,3] transpose(g), dimensions={4,5,0,3,2,1}\n"
      "ROOT r = f32[12,36] reshape(t) }",
      0);
}

TEST_P(GatherTest, NothingToGather) {
  ExpectSameAsEvaluator(
      "HloModule m\nENTRY e { x = f32[5,4] parameter(0)\n i = s32[0] parameter(1)\n"
      "g = f32[0,4] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
      "index_vector_dim=1, slice_sizes={1,4}\n ROOT r = (f32[0,4], f32[5,4]) tuple(g, x) }",
      0);
}

HPU_GAUDI_SUITE(GatherTest);

}  // namespace gathers_test
}  // namespace hpu::gaudi
