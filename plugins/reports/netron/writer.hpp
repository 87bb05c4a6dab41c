// A `netron:attachment` (Netron 9.2 or newer): a JSON file. Dropped onto the window in which the
// model is open, it makes nodes, tensors and the model itself show tmeter's values.
//
// Netron matches by name. It shows, for exported programs, every operator with one result (others
// at their connections) and every tensor; for files of weights every module and tensor; for
// TorchScript only tensors and totals, because its operators have no names.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace netron_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace netron_report
