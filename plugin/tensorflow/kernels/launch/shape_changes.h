// ShapeChanges: what differs between the signatures of one cluster.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SHAPE_CHANGES_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SHAPE_CHANGES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugin/compiler/lowering.h"

namespace hpu {

// Answers which dimension keeps changing, so that a program can be mended. Not thread safe.
class ShapeChanges {
 public:
  // The arguments of a signature that was not seen before; as many at each call.
  void Add(std::vector<ArgumentDescription> arguments);

  // What changed most often, with its latest values: "dimension 0 of argument 3, images (16, 17, 18)", "the value of
  // argument 2, … (…)", "the dtype or rank of argument 1, … (…)". Empty if nothing has changed. `names` are the
  // arguments', as many as at Add.
  std::string MostFrequent(const std::vector<std::string>& names) const;

 private:
  // An argument, and its dimension or kWhole.
  using Place = std::pair<int, int>;
  struct Change {
    int64_t times = 0;
    std::deque<std::string> latest;
  };

  static constexpr int kWhole = -1;
  static constexpr size_t kLatest = 3;

  void Compare(int index, const ArgumentDescription& before, const ArgumentDescription& now);
  void Record(Place place, std::string before, std::string now);

  std::vector<ArgumentDescription> last_;
  std::map<Place, Change> changes_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SHAPE_CHANGES_H_
