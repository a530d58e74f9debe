#include "xla/service/optimization_barrier_expander.h"
