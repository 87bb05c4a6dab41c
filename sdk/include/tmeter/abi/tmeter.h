/* Everything a plugin can offer and ask for. Drafts (draft/) are left out on purpose. */
#ifndef TMETER_ABI_TMETER_H
#define TMETER_ABI_TMETER_H
#include "analysis.h"
#include "base.h"
#include "builder.h"
#include "call.h"
#include "distribution.h"
#include "dtype.h"
#include "entry.h"
#include "finding.h"
#include "graph.h"
#include "loader.h"
#include "metric.h"
#include "op_handler.h"
#include "options.h"
#include "propagator.h"
#include "report.h"
#include "shape_rule.h"
#include "sizes.h"
#include "source.h"
#include "tensor_analysis.h"
#include "tensor_data.h"
#endif
