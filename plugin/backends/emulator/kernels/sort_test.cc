// Tests of sorts of random shapes and types against the standard library.
#include "plugin/backends/emulator/kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>

namespace hpu::emulator {
namespace {

// Distribution of the values. Each distribution exercises a part of the kernel.
enum class Values { kAny, kFew, kSorted, kReversed, kCloseTogether, kTwoClusters, kLast };

// Random bits of `size` keys of `bytes` bytes. Every bit pattern is a valid key, including NaN and both zeros.
std::vector<uint32_t> RandomKeys(int64_t bytes, int64_t size, Values values, std::mt19937* random) {
  const uint32_t mask = bytes == 4 ? ~0u : (1u << 8 * bytes) - 1;
  std::vector<uint32_t> keys(size);
  for (uint32_t& key : keys) {
    const uint32_t any = (*random)();
    key = any;
    if (values == Values::kFew) key = any % 5 << (8 * bytes - 3);
    if (values == Values::kCloseTogether) key = any % 1000;
    if (values == Values::kTwoClusters) key = any % 60000 | any >> 31 << (8 * bytes - 1);
    key &= mask;
  }
  if (values == Values::kSorted) std::sort(keys.begin(), keys.end());
  if (values == Values::kReversed) std::sort(keys.rbegin(), keys.rend());
  return keys;
}

// Rank of the key in the order that the kernel's header defines.
int64_t Rank(const Sort& sort, uint32_t key) {
  const uint32_t sign = 1u << (8 * sort.key_bytes - 1);
  int64_t rank = key;
  if (sort.type == Sort::kSigned && (key & sign) != 0) rank = static_cast<int64_t>(key) - 2 * int64_t{sign};
  if (sort.type == Sort::kFloat && (key & sign) != 0) rank = -1 - static_cast<int64_t>(key & ~sign);
  return sort.descending ? -rank : rank;
}

std::string Bytes(const std::vector<uint32_t>& keys, int64_t bytes) {
  std::string text(keys.size() * bytes, '\0');
  for (size_t i = 0; i < keys.size(); ++i) std::memcpy(&text[i * bytes], &keys[i], bytes);
  return text;
}

// Expected results, computed one by one.
std::vector<std::string> Reference(const Sort& sort, const std::vector<uint32_t>& keys,
                                   const std::vector<std::string>& payloads) {
  const int64_t results = sort.outer * sort.count * sort.inner;
  std::vector<std::string> made;
  for (const int64_t content : sort.results) {
    made.emplace_back(results * (content == Sort::kKeys ? sort.key_bytes : content == Sort::kIndices ? 4 : content), 0);
  }
  for (int64_t column = 0; column < sort.outer * sort.inner; ++column) {
    const int64_t outer = column / sort.inner, inner = column % sort.inner;
    const auto at = [&](int64_t size, int64_t i) { return (outer * size + i) * sort.inner + inner; };
    std::vector<int32_t> indices(sort.size);
    std::iota(indices.begin(), indices.end(), 0);
    std::stable_sort(indices.begin(), indices.end(), [&](int32_t a, int32_t b) {
      return Rank(sort, keys[at(sort.size, a)]) < Rank(sort, keys[at(sort.size, b)]);
    });
    for (int64_t i = 0; i < sort.count; ++i) {
      const int64_t from = at(sort.size, indices[i]), to = at(sort.count, i);
      size_t payload = 0;
      for (size_t r = 0; r < made.size(); ++r) {
        const int64_t content = sort.results[r];
        if (content == Sort::kKeys) {
          std::memcpy(&made[r][to * sort.key_bytes], &keys[from], sort.key_bytes);
        } else if (content == Sort::kIndices) {
          std::memcpy(&made[r][to * 4], &indices[i], 4);
        } else {
          std::memcpy(&made[r][to * content], &payloads[payload++][from * content], content);
        }
      }
    }
  }
  return made;
}

void ExpectSorts(const Sort& sort, Values values, std::mt19937* random) {
  SCOPED_TRACE(testing::PrintToString(sort.Spec().parameters) + " values " + std::to_string(static_cast<int>(values)));
  const int64_t size = sort.outer * sort.size * sort.inner;
  const std::vector<uint32_t> keys = RandomKeys(sort.key_bytes, size, values, random);
  const std::string key_bytes = Bytes(keys, sort.key_bytes);
  std::vector<std::string> payloads;
  for (const int64_t content : sort.results) {
    if (content <= 0) continue;
    payloads.emplace_back(size * content, 0);
    for (char& byte : payloads.back()) byte = static_cast<char>((*random)());
  }
  std::vector<const void*> operands{key_bytes.data()};
  for (const std::string& payload : payloads) operands.push_back(payload.data());
  const auto kernel = MakeKernel(sort.Spec());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_EQ((*kernel)->results(), sort.results.size());
  const std::vector<std::string> want = Reference(sort, keys, payloads);
  for (const int threads : {1, 3}) {
    ComputePool pool(threads);
    std::vector<std::string> got;
    for (const std::string& other : want) got.emplace_back(other.size(), '?');
    std::vector<void*> results;
    for (std::string& result : got) results.push_back(result.data());
    ASSERT_TRUE((*kernel)->Run({operands.data(), results.data(), nullptr, pool}).ok());
    for (size_t r = 0; r < want.size(); ++r)
      EXPECT_TRUE(got[r] == want[r]) << "result " << r << ", threads " << threads;
  }
}

class SortTest : public testing::TestWithParam<int> {};

TEST_P(SortTest, EqualsStableSort) {
  std::mt19937 random(GetParam());
  const auto roll = [&](int64_t low, int64_t high) { return low + static_cast<int64_t>(random() % (high - low + 1)); };
  for (int round = 0; round < 12; ++round) {
    Sort sort;
    sort.key_bytes = int64_t{1} << roll(0, 2);
    sort.type = static_cast<Sort::Type>(roll(sort.key_bytes == 1 ? 1 : 0, 2));
    sort.descending = roll(0, 1) == 1;
    // Sizes around the thresholds of the kernel.
    static constexpr int64_t kSizes[] = {1, 2, 31, 33, 100, 700, 2047, 2100, 9000, 33000};
    sort.size = kSizes[roll(0, 9)];
    const int64_t max = std::max<int64_t>(1, 40000 / sort.size);
    sort.inner = roll(0, 1) == 0 ? 1 : roll(1, std::min<int64_t>(40, max));
    sort.outer = roll(1, std::max<int64_t>(1, max / sort.inner));
    const int64_t counts[] = {1, std::min<int64_t>(5, sort.size), (sort.size + 7) / 8, sort.size};
    sort.count = counts[roll(0, 3)];
    static constexpr int64_t kContents[] = {Sort::kKeys, Sort::kIndices, 1, 2, 4, 8};
    for (int64_t i = roll(1, 3); i > 0; --i) sort.results.push_back(kContents[roll(0, 5)]);
    if (roll(0, 2) == 0) sort.results = {Sort::kKeys};
    ExpectSorts(sort, static_cast<Values>(roll(0, static_cast<int64_t>(Values::kLast) - 1)), &random);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, SortTest, testing::Range(0, 24));

TEST(Sort, OfFewLongRows) {
  std::mt19937 random(1);
  for (int values = 0; values < static_cast<int>(Values::kLast); ++values) {
    Sort sort;
    sort.size = 150001;
    sort.type = Sort::kSigned;
    sort.results = {Sort::kKeys, Sort::kIndices};
    for (const int64_t count : {int64_t{1}, int64_t{100}, int64_t{18000}, sort.size}) {
      sort.count = count;
      sort.inner = count == 100 ? 2 : 1;
      ExpectSorts(sort, static_cast<Values>(values), &random);
    }
    sort.results = {Sort::kKeys};
    ExpectSorts(sort, static_cast<Values>(values), &random);
  }
}

TEST(Sort, RefusesOtherParameters) {
  Sort sort;
  sort.size = 7;
  sort.count = 7;
  sort.results = {Sort::kKeys};
  EXPECT_TRUE(MakeKernel(sort.Spec()).ok());
  const auto refuses = [&](auto change) {
    Sort other = sort;
    change(&other);
    return !MakeKernel(other.Spec()).ok();
  };
  EXPECT_TRUE(refuses([](Sort* s) { s->count = 8; })) << "count above size";
  EXPECT_TRUE(refuses([](Sort* s) { s->count = 0; })) << "count of 0";
  EXPECT_TRUE(refuses([](Sort* s) { s->outer = 0; })) << "no elements";
  EXPECT_TRUE(refuses([](Sort* s) { s->key_bytes = 8; })) << "keys of eight bytes";
  EXPECT_TRUE(refuses([](Sort* s) { s->key_bytes = 1; })) << "floats of one byte";
  EXPECT_TRUE(refuses([](Sort* s) { s->results = {3}; })) << "elements of three bytes";
  EXPECT_TRUE(refuses([](Sort* s) { s->results = {}; })) << "no results";
  EXPECT_TRUE(refuses([](Sort* s) { s->size = s->count = int64_t{1} << 31; })) << "positions beyond int32";
}

}  // namespace
}  // namespace hpu::emulator
