// A `netron:attachment` (Netron 9.2 or newer): a JSON file that is dropped onto the window in which
// the model is open, after which nodes, tensors and the model itself show tmeter's figures.
//
// Netron matches by name. It shows, for exported programs, every operator with one result (others
// at their connections) and every tensor; for files of weights every module and tensor; for
// TorchScript tensors and totals only, as its operators have no names.
#pragma once
#include <tmeter/cpp/report.hpp>

namespace netron_report {

void write(const tmeter::Report& report, tmeter::Output& out);

}  // namespace netron_report
