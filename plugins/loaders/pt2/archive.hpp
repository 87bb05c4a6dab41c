// Where the parts of a model lie in its archive, in any layout torch 2.6 … 2.15 writes:
//
//   2.9 …   ROOT/models/NAME.json, ROOT/data/{weights,constants}/NAME_…_config.json + raw records
//   2.8     ROOT/models/NAME.json, ROOT/data/{weights,constants}/NAME.pt (torch.save inside)
//   … 2.7   serialized_exported_program.json, serialized_{state_dict,constants}.pt
#pragma once
#include <optional>
#include <string>
#include <tmeter/cpp/plugin.hpp>
#include <vector>

namespace pt2 {

struct Archive {
  tmeter::Entry program;  // the JSON with graph and signature
  std::string model;      // NAME; empty in the flat layout
  std::optional<tmeter::Entry> weights_config, constants_config;
  std::string weights_folder, constants_folder;  // of the raw records, with '/' at the end
  std::vector<std::string> other_models;         // further NAMEs in the archive
};

/// `wanted`: the NAME to read, empty for the first. Throws BadFile when there is no graph, and
/// tmeter::Error(TMETER_BAD_USAGE) when the wanted model is not there.
Archive locate(const tmeter::Source& source, std::string_view wanted);

}  // namespace pt2
