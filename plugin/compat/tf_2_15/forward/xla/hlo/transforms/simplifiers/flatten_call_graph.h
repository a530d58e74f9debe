#include "xla/service/flatten_call_graph.h"
