#include "xla/service/comparison_expander.h"
