// Facts about the Gaudi cards that HPU_DEVICE_TYPE names, generated from
// habana_frameworks/tensorflow/_internal/card_table.py.
#ifndef HPU_PLUGIN_BASE_CARDS_CARDS_H_
#define HPU_PLUGIN_BASE_CARDS_CARDS_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace hpu::cards {

struct Card {
  const char* type;  // GAUDI, GAUDI2, GAUDI3
  int64_t memory_mb;
  int modules;  // of one server
  // Element types of this card (TensorFlow's DataTypeString) that the first generation does not support.
  absl::Span<const char* const> added_types;
};

// All cards, oldest first, in static memory.
absl::Span<const Card> AllCards();

// The card whose type is the first word of `device_type`, ignoring case; null if there is none.
const Card* Find(std::string_view device_type);

// The card that HPU_DEVICE_TYPE names; for an unknown name, the card of the setting's default.
const Card& Current();

// Device memory of an emulated card in MiB: HPU_MEMORY_MB, or the card's memory if that is 0. Not validated.
int64_t MemoryMb();

// Number of emulated modules: HPU_MODULES, or the modules of the card's server if that is 0. Not validated.
int64_t Modules();

}  // namespace hpu::cards

#endif  // HPU_PLUGIN_BASE_CARDS_CARDS_H_
