#include "xla/service/hlo_dataflow_analysis.h"
