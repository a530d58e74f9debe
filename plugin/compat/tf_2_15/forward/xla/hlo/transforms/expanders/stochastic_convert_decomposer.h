#include "xla/service/stochastic_convert_decomposer.h"
