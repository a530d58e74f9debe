// Generation of a Gaudi card: Gaudi, Gaudi2 or Gaudi3.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_GENERATION_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_GENERATION_H_

namespace hpu::synapse {

enum class Generation { kGaudi, kGaudi2, kGaudi3 };

inline constexpr Generation kGenerations[] = {Generation::kGaudi, Generation::kGaudi2, Generation::kGaudi3};

// "gaudi", "gaudi2", "gaudi3"
constexpr const char* GenerationName(Generation generation) {
  switch (generation) {
    case Generation::kGaudi:
      return "gaudi";
    case Generation::kGaudi2:
      return "gaudi2";
    case Generation::kGaudi3:
      return "gaudi3";
  }
  return "";
}

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_SYNAPSE_GENERATION_H_
