// Values of the graph in words: "float32[1, 64, 56, 56]", "[2, 2]", "true".
#pragma once
#include <string>
#include <tmeter/cpp/report.hpp>

namespace html_report {

std::string words(const tmeter::Value& value);
std::string words(const tmeter::Tensor& tensor);

/// One line for each argument with a value: "stride: [2, 2]".
std::string arguments(const tmeter::Node& node);

/// The results, separated by commas.
std::string results(const tmeter::Node& node);

}  // namespace html_report
