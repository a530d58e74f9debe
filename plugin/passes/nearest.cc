#include "plugin/passes/nearest.h"

#include <algorithm>
#include <functional>

#include "tensorflow/core/lib/gtl/edit_distance.h"

namespace hpu::passes {

std::string Nearest(std::string_view name, const std::vector<std::string>& names) {
  const auto distance = [&](const std::string& other) {
    return tensorflow::gtl::LevenshteinDistance(name, std::string_view(other), std::equal_to<char>());
  };
  return *std::min_element(names.begin(), names.end(),
                           [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
}

}  // namespace hpu::passes
