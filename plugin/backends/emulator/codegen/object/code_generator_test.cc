// Tests of the code that becomes object files.
#include "plugin/backends/emulator/codegen/code_generator.h"

#include <gtest/gtest.h>

#include "plugin/backends/emulator/codegen/compiler.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu::emulator {
namespace code_generator_test {

using xla::XlaOp;

// Even small buffers occupy whole cache lines, so that the next buffer begins at a multiple of 64.
TEST(ObjectCodeTest, BuffersAreCacheLineMultiples) {
  xla::XlaBuilder builder("products");
  const XlaOp a = xla::Parameter(&builder, 0, xla::ShapeUtil::MakeShape(xla::F32, {5, 5}), "a");
  const XlaOp product = xla::Dot(a, a);
  xla::Tuple(&builder, {xla::Dot(product, xla::Dot(product, a))});
  auto parts = CompileParts(ProgramOf(builder.Build().value()));
  ASSERT_TRUE(parts.ok()) << parts.status();
  EXPECT_EQ(parts->workspace_bytes, 2 * 128);
}

}  // namespace code_generator_test
}  // namespace hpu::emulator
