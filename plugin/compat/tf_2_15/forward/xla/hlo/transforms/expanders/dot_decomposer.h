#include "xla/service/dot_decomposer.h"
