// Locates the parts of a model in its archive, in all layouts of torch 2.6 … 2.15:
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
  std::string weights_folder, constants_folder;  // folders of the raw records, with a trailing '/'
  std::vector<std::string> other_models;         // further NAMEs in the archive
};

/// `model_name` is the NAME to read; empty for the first. Throws BadFile if there is no graph, and
/// tmeter::Error(TMETER_BAD_USAGE) if the archive lacks the wanted model.
Archive locate(const tmeter::Source& source, std::string_view model_name);

}  // namespace pt2
