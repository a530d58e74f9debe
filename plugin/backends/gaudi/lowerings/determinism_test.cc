// Programs that require determinism (plugin/program/determinism.h). The double varies the order of a scatter's sums
// from launch to launch, as a card may.
#include "plugin/program/determinism.h"

#include <set>
#include <string>

#include "plugin/testing/gaudi_program.h"

namespace hpu::gaudi {
namespace determinism_test {

// Sums of 60 updates. Large updates cancel each other, but first absorb small updates, so the sum depends on the order.
constexpr char kSums[] =
    "HloModule m\nf { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
    "ENTRY e { x = f32[3,4] parameter(0)\n i = s32[60] parameter(1)\n u = f32[60,4] parameter(2)\n"
    "ROOT r = f32[3,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";

class DeterminismTest : public ProgramTest {
 protected:
  // Number of different results of 8 launches.
  size_t CountResults(bool requires_determinism) {
    const std::unique_ptr<xla::HloModule> module = ParseProgram(kSums);
    if (requires_determinism) {
      xla::HloModuleProto mark;
      RequireDeterminism(&mark);
      module->set_frontend_attributes(mark.frontend_attributes());
    }
    std::vector<xla::Literal> arguments = RandomArguments(*module);
    for (int64_t i = 0; i < 60; ++i) {
      arguments[1].Set<int32_t>({i}, static_cast<int32_t>(i % 3));
      if (i % 4 < 2) arguments[2].Set<float>({i, 1}, i % 12 < 6 ? 1e30f : -1e30f);
    }
    const auto recipe = Compile(*module);
    EXPECT_TRUE(recipe.ok()) << recipe.status();
    std::set<std::string> results;
    for (int i = 0; i < 8; ++i) {
      const auto got = Launch(*recipe, *module, arguments);
      EXPECT_TRUE(got.ok()) << got.status();
      results.emplace(static_cast<const char*>(got->front().untyped_data()), got->front().size_bytes());
    }
    return results.size();
  }
};

TEST_P(DeterminismTest, ScattersAddInOneOrder) {
  EXPECT_EQ(1, CountResults(/*requires_determinism=*/true));
  EXPECT_LT(1, CountResults(/*requires_determinism=*/false));
}

HPU_GAUDI_SUITE(DeterminismTest);

}  // namespace determinism_test
}  // namespace hpu::gaudi
