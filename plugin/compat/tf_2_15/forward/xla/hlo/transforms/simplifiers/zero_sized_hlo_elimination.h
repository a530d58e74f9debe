#include "xla/service/zero_sized_hlo_elimination.h"
