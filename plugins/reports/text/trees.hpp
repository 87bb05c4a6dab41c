// The three trees of --by: which rows the table has.
#pragma once
#include <tmeter/cpp/report.hpp>

#include "../common/describe.hpp"
#include "columns.hpp"
#include "tree.hpp"
#include "view.hpp"

namespace text_report {

/// --by module: the module tree, down to --depth or as deep as fits about one screen.
Tree module_tree(const tmeter::Report& report, const Columns& columns, const View& view);

/// --by operator: operators by name; below them (--depth 2) every call.
Tree operator_tree(const tmeter::Report& report, const Columns& columns, const View& view);

/// --by type: module types with what their modules hold and run themselves, not what modules
/// inside them do, so that rows add up to the total; below them (--depth 2) every module.
Tree type_tree(const tmeter::Report& report, const Columns& columns, const View& view);

using reports::describe;
using reports::model_name;

}  // namespace text_report
