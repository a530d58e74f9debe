#include "xla/service/rng_bit_generator_expander.h"
