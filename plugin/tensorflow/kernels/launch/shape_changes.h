// ShapeChanges: differences between the signatures of one cluster.
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

// Finds the dimension that changes most often, so that the user can fix the program. Not thread safe.
class ShapeChanges {
 public:
  // Adds the arguments of a new signature. Every call must pass the same number of arguments.
  void Add(std::vector<ArgumentDescription> arguments);

  // Describes the most frequent change, with its latest values: "dimension 0 of argument 3, images (16, 17, 18)", "the
  // value of argument 2, … (…)", "the dtype or rank of argument 1, … (…)". Empty if nothing has changed. `names` holds
  // one name for each argument.
  std::string MostFrequent(const std::vector<std::string>& names) const;

 private:
  // Number of an argument, and a dimension of the argument or kWhole.
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
