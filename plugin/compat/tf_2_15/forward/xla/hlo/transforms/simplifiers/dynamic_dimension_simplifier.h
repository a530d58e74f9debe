#include "xla/service/dynamic_dimension_simplifier.h"
