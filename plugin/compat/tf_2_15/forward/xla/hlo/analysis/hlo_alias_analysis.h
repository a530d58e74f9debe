#include "xla/service/hlo_alias_analysis.h"
