#include "plugin/testing/fuzz/mutator.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace hpu::fuzz {
namespace {

constexpr int kMaxMutations = 6;

}  // namespace

std::string Mutator::Mutate(std::string bytes, const std::string& other) {
  for (uint64_t count = 1 + Below(kMaxMutations); count > 0; --count) MutateOnce(&bytes, other);
  if (bytes.size() > kMaxBytes) bytes.resize(kMaxBytes);
  return bytes;
}

void Mutator::MutateOnce(std::string* bytes, const std::string& other) {
  // The first bytes matter most, because they hold sizes.
  const size_t position = Below(Below(2) == 0 ? std::min<size_t>(bytes->size(), 128) : bytes->size());
  const size_t length = Below(std::min<size_t>(bytes->size() - position, 1 + Below(64)) + 1);
  switch (Below(7)) {
    case 0:
      if (!bytes->empty()) (*bytes)[position] ^= static_cast<char>(1 << Below(8));
      break;
    case 1:
      if (!bytes->empty()) (*bytes)[position] = static_cast<char>(Below(256));
      break;
    case 2:
      bytes->erase(position, length);
      break;
    case 3:
      bytes->insert(position, bytes->substr(Below(bytes->size()), length));
      break;
    case 4:
      bytes->insert(position, other.substr(Below(other.size()), 1 + Below(64)));
      break;
    case 5:
      bytes->resize(position);
      break;
    default:
      ReplaceNumber(bytes, position);
  }
}

void Mutator::ReplaceNumber(std::string* bytes, size_t position) {
  const size_t width = size_t{1} << Below(4);
  if (position + width > bytes->size()) return;
  uint64_t value = 0;
  std::memcpy(&value, &(*bytes)[position], width);
  const uint64_t candidates[] = {
      0, 1, ~uint64_t{0}, ~uint64_t{0} >> 1, bytes->size(), value + Below(40), value - Below(40)};
  value = candidates[Below(std::size(candidates))];
  std::memcpy(&(*bytes)[position], &value, width);
}

}  // namespace hpu::fuzz
