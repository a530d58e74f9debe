// Random numbers: XLA's generators, which TensorFlow's random ops use.
#include <cstdint>

#include "absl/strings/substitute.h"
#include "plugin/testing/gaudi_program.h"
#include "xla/literal_util.h"

namespace hpu::gaudi {
namespace {

class RandomTest : public ProgramTest {};

constexpr char kGenerator[] =
    "HloModule m\nENTRY e { s = u64[$2] parameter(0)\n g = (u64[$2], $0) rng-bit-generator(s), algorithm=$1\n"
    "n = u64[$2] get-tuple-element(g), index=0\n b = $0 get-tuple-element(g), index=1\n"
    "ROOT r = (u64[$2], $0) tuple(n, b) }";

// The answer for counter 0 and key 0 that Philox's authors publish (Random123, kat_vectors).
TEST_P(RandomTest, PhiloxHasThePublishedBits) {
  const auto module = ParseProgram(absl::Substitute(kGenerator, "u32[4]", "rng_philox", 3));
  const auto got = Run(*module, ArgumentsOf(xla::LiteralUtil::CreateR1<uint64_t>({0, 0, 0})));
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ((*got)[0], xla::LiteralUtil::CreateR1<uint64_t>({0, 1, 0}));
  EXPECT_EQ((*got)[1], xla::LiteralUtil::CreateR1<uint32_t>({0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST_P(RandomTest, GeneratorsHaveXlasBits) {
  // The counter of the first state carries into its high half.
  const std::vector<std::vector<uint64_t>> states = {{0x123456789abcdef0, ~uint64_t{0} - 1, 7},
                                                     {~uint64_t{0}, 0xfffffffe, ~uint64_t{0}}};
  for (const std::vector<uint64_t>& state : states) {
    for (const char* shape : {"u32[5,3]", "u32[7]", "u64[5]", "u32[]"}) {
      ExpectSameAsEvaluator(absl::Substitute(kGenerator, shape, "rng_philox", 3),
                            ArgumentsOf(xla::LiteralUtil::CreateR1<uint64_t>(state)), 0);
    }
  }
  for (const char* shape : {"u32[5,3]", "u64[5]"}) {
    ExpectSameAsEvaluator(absl::Substitute(kGenerator, shape, "rng_three_fry", 2),
                          ArgumentsOf(xla::LiteralUtil::CreateR1<uint64_t>({0x123456789abcdef0, 0xfffffffffffffffe})),
                          0);
  }
}

TEST_P(RandomTest, StateWithoutArgumentIsRefused) {
  ExpectRefused(
      "HloModule m\nENTRY e { a = f32[] constant(0)\n b = f32[] constant(1)\n"
      "ROOT r = f32[4] rng(a, b), distribution=rng_uniform }",
      "random numbers with hidden state");
}

HPU_GAUDI_SUITE(RandomTest);

}  // namespace
}  // namespace hpu::gaudi
