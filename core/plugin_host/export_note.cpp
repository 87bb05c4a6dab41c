#include "core/plugin_host/export_note.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"

namespace tmeter::core {
namespace {

/// Folders of extra files in torch's archives; the second one up to version 2.7.
constexpr std::array<std::string_view, 2> kEntries{"/extra/tmeter-export",
                                                   "/extra_files/tmeter-export"};
constexpr size_t kMaxNoteBytes = 64 << 10, kMaxNoteLines = 64, kMaxNoteCharacters = 2'000;

std::optional<size_t> entry_of(const ZipArchive& archive) {
  const auto& entries = archive.entries();
  const auto at = std::find_if(entries.begin(), entries.end(), [](const ZipEntry& e) {
    return e.name.ends_with(kEntries[0]) || e.name.ends_with(kEntries[1]);
  });
  if (at == entries.end() || at->size > kMaxNoteBytes) return std::nullopt;
  return static_cast<size_t>(at - entries.begin());
}

}  // namespace

void read_export_note(const ZipArchive& archive, GraphBuilder& builder, CallLog& log) {
  const auto entry = entry_of(archive);
  if (!entry) return;
  std::string_view rest = archive.read(*entry).substr(0, archive.entries()[*entry].size);
  for (size_t n = 0; n < kMaxNoteLines && !rest.empty(); ++n) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto word = line.substr(0, line.find(' '));
    const auto text = printable(std::string(
        line.substr(std::min(line.size(), word.size() + 1)).substr(0, kMaxNoteCharacters)));
    if (text.empty()) continue;
    if (word == "way") {
      const std::string producer(builder.property_of("producer"));
      builder.property("producer", producer + (producer.empty() ? "" : ", ") + "by " + text);
    }
    if (word != "assumed") continue;
    builder.property("assumed", text);
    log.add(TMETER_LOG_WARNING, "tmeter", text);
  }
}

}  // namespace tmeter::core
