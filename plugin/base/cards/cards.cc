#include "plugin/base/cards/cards.h"

#include "absl/strings/match.h"
#include "plugin/base/flags/flags.h"

namespace hpu::cards {
namespace {

constexpr std::string_view kDefaultType = "GAUDI2";

}  // namespace

const Card* Find(std::string_view device_type) {
  constexpr std::string_view kBlanks = " \t";
  const size_t start = device_type.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return nullptr;
  const std::string_view word = device_type.substr(start, device_type.find_first_of(kBlanks, start) - start);
  for (const Card& card : AllCards()) {
    if (absl::EqualsIgnoreCase(card.type, absl::string_view(word.data(), word.size()))) return &card;
  }
  return nullptr;
}

const Card& Current() {
  const Card* card = Find(flags::DeviceType());
  return card != nullptr ? *card : *Find(kDefaultType);
}

int64_t MemoryMb() {
  const int64_t setting = flags::MemoryMb();
  return setting != 0 ? setting : Current().memory_mb;
}

int64_t Modules() {
  const int64_t setting = flags::Modules();
  return setting != 0 ? setting : Current().modules;
}

}  // namespace hpu::cards
