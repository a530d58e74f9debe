#include_next "xla/service/graphcycles/graphcycles.h"

namespace xla {
using tensorflow::GraphCycles;
}  // namespace xla
