#include "sheet.hpp"

#include <algorithm>
#include <cmath>
#include <tmeter/cpp/units.hpp>

#include "plugins/common/utf8.hpp"

namespace xlsx_report {
namespace {

constexpr std::string_view kHead =
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
constexpr std::string_view kMain = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
constexpr std::string_view kRelations =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
constexpr std::string_view kPackage = "http://schemas.openxmlformats.org/package/2006/";
constexpr std::string_view kSheetType =
    "application/vnd.openxmlformats-officedocument.spreadsheetml.";

/// "A", …, "Z", "AA", … "XFD"
std::string column_name(size_t column) {
  std::string out;
  for (size_t n = column + 1; n > 0; n = (n - 1) / 26)
    out.insert(out.begin(), static_cast<char>('A' + (n - 1) % 26));
  return out;
}

/// "_x0041_": Excel would read it as "A".
bool is_escape(std::string_view text) {
  constexpr size_t kLength = 7;
  return text.size() >= kLength && text[0] == '_' && text[1] == 'x' && text[6] == '_' &&
         text.substr(2, 4).find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

std::string cell_text(std::string_view text) {
  std::string out;
  size_t characters = 0;
  std::string_view rest = text;
  plugins::for_each_character(text, [&](uint32_t code, std::string_view bytes) {
    const bool escape = is_escape(rest);
    rest.remove_prefix(bytes.size());
    characters += code > 0xFFFF && code != plugins::kInvalidUtf8 ? 2 : 1;  // in UTF-16 units
    if (characters >= kMaxText) {
      if (characters < kMaxText + 3) out += "…", characters = 2 * kMaxText;
      return;
    }
    const bool is_control = code < 0x20 && code != '\t' && code != '\n';
    const bool is_none = code == plugins::kInvalidUtf8 || code == 0xFFFE || code == 0xFFFF;
    if (is_control || is_none)
      out += plugins::kReplacement;
    else if (escape)
      out += "_x005F_";
    else if (code == '&')
      out += "&amp;";
    else if (code == '<')
      out += "&lt;";
    else if (code == '>')
      out += "&gt;";
    else if (code == '"')
      out += "&quot;";
    else
      out += bytes;
  });
  return out;
}

}  // namespace

std::string sheet_name(std::string_view title) {
  std::string out;
  size_t characters = 0;
  plugins::for_each_character(title, [&](uint32_t code, std::string_view bytes) {
    characters += code > 0xFFFF ? 2 : 1;
    if (characters > kMaxSheetName) return;
    const bool forbidden = code < 0x20 || code == plugins::kInvalidUtf8 ||
                           std::string_view("[]:*?/\\").find(bytes) != std::string_view::npos;
    out += forbidden ? std::string_view("-") : bytes;
  });
  if (out.starts_with('\'')) out[0] = '-';
  if (out.ends_with('\'')) out.back() = '-';
  std::string lower = out;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower == "history") out += "-";
  return out.empty() ? "Sheet" : out;
}

std::string Workbook::title(std::string_view name) const {
  return pieces_ < 2 ? sheet_name(name)
                     : sheet_name(std::string(name) + " (" + std::to_string(pieces_) + ")");
}

void Workbook::table(std::string_view name, const std::vector<std::string>& titles) {
  name_ = name;
  titles_ = titles;
  pieces_ = 0;
  begin_sheet();
}

void Workbook::begin_sheet() {
  if (open_) end_sheet();
  open_ = true;
  ++pieces_;
  sheets_.push_back(title(name_));
  package_.part("xl/worksheets/sheet" + std::to_string(sheets_.size()) + ".xml");
  package_
      << kHead << "<worksheet xmlns=\"" << kMain
      << "\"><sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" "
         "activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews><sheetData>";
  row_ = column_ = 0;
  for (const auto& t : titles_) {
    begin_cell(" s=\"1\" t=\"inlineStr\"");
    package_ << "<is><t xml:space=\"preserve\">" << cell_text(t) << "</t></is></c>";
  }
  end_row();
}

void Workbook::end_sheet() {
  package_ << "</sheetData>";
  const auto columns = std::min(titles_.size(), kMaxColumns);
  if (columns > 0)
    package_ << "<autoFilter ref=\"A1:" << column_name(columns - 1)
             << std::to_string(std::max<size_t>(row_, 1)) << "\"/>";
  package_ << "</worksheet>";
}

void Workbook::begin_cell(std::string_view attributes) {
  if (!row_open_) {
    if (row_ == kMaxRows) begin_sheet();
    package_ << "<row r=\"" << std::to_string(row_ + 1) << "\">";
    row_open_ = true;
  }
  package_ << "<c r=\"" << column_name(column_) << std::to_string(row_ + 1) << "\"" << attributes
           << ">";
  ++column_;
}

void Workbook::text(std::string_view text) {
  if (text.empty() || column_ >= kMaxColumns) return skip();
  begin_cell(" t=\"inlineStr\"");
  package_ << "<is><t xml:space=\"preserve\">" << cell_text(text) << "</t></is></c>";
}

void Workbook::whole(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value > kExact || value < -kExact) return text(std::to_string(value));
  if (column_ >= kMaxColumns) return skip();
  begin_cell(" s=\"2\"");
  package_ << "<v>" << std::to_string(value) << "</v></c>";
}

void Workbook::real(double value) {
  if (!std::isfinite(value)) return text(tmeter::shortest(value));
  if (column_ >= kMaxColumns) return skip();
  begin_cell("");
  package_ << "<v>" << tmeter::shortest(value) << "</v></c>";
}

void Workbook::cell(const tmeter::Cell& cell) {
  if (cell.empty() || cell.in_module()) return skip();
  if (cell.is_unknown()) return text("unknown");
  if (cell.is_unavailable()) return text("unavailable");
  if (cell.is_int()) return whole(cell.count().value());
  return cell.is_number() ? real(cell.real()) : whole(0);
}

void Workbook::end_row() {
  if (row_open_) package_ << "</row>";
  row_open_ = false;
  column_ = 0;
  ++row_;
}

void Workbook::finish() {
  if (open_) end_sheet();
  std::string types, sheets, relations;
  for (size_t i = 0; i < sheets_.size(); ++i) {
    const auto n = std::to_string(i + 1);
    types += "<Override PartName=\"/xl/worksheets/sheet" + n + ".xml\" ContentType=\"" +
             std::string(kSheetType) + "worksheet+xml\"/>";
    sheets += "<sheet name=\"" + cell_text(sheets_[i]) + "\" sheetId=\"" + n + "\" r:id=\"rId" + n +
              "\"/>";
    relations += "<Relationship Id=\"rId" + n + "\" Type=\"" + std::string(kRelations) +
                 "/worksheet\" Target=\"worksheets/sheet" + n + ".xml\"/>";
  }
  const auto last = std::to_string(sheets_.size() + 1);
  package_.part("xl/styles.xml");
  package_
      << kHead << "<styleSheet xmlns=\"" << kMain
      << "\"><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font><font><b/>"
         "<sz val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills count=\"2\"><fill>"
         "<patternFill patternType=\"none\"/></fill><fill><patternFill patternType=\"gray125\"/>"
         "</fill></fills><borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/>"
         "</border></borders><cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" "
         "fillId=\"0\" "
         "borderId=\"0\"/></cellStyleXfs><cellXfs count=\"3\"><xf numFmtId=\"0\" fontId=\"0\" "
         "fillId=\"0\" borderId=\"0\" xfId=\"0\"/><xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" "
         "borderId=\"0\" xfId=\"0\" applyFont=\"1\"/><xf numFmtId=\"3\" fontId=\"0\" fillId=\"0\" "
         "borderId=\"0\" xfId=\"0\" applyNumberFormat=\"1\"/></cellXfs><cellStyles "
         "count=\"1\"><cellStyle "
         "name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>";
  package_.part("xl/workbook.xml");
  package_ << kHead << "<workbook xmlns=\"" << kMain << "\" xmlns:r=\"" << kRelations
           << "\"><sheets>" << sheets << "</sheets></workbook>";
  package_.part("xl/_rels/workbook.xml.rels");
  package_ << kHead << "<Relationships xmlns=\"" << kPackage << "relationships\">" << relations
           << "<Relationship Id=\"rId" << last << "\" Type=\"" << kRelations
           << "/styles\" Target=\"styles.xml\"/></Relationships>";
  package_.part("_rels/.rels");
  package_ << kHead << "<Relationships xmlns=\"" << kPackage
           << "relationships\"><Relationship Id=\"rId1\" Type=\"" << kRelations
           << "/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>";
  package_.part("[Content_Types].xml");
  package_
      << kHead << "<Types xmlns=\"" << kPackage
      << "content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-"
         "package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/>"
         "<Override PartName=\"/xl/workbook.xml\" ContentType=\""
      << kSheetType << "sheet.main+xml\"/><Override PartName=\"/xl/styles.xml\" ContentType=\""
      << kSheetType << "styles+xml\"/>" << types << "</Types>";
  package_.finish();
}

}  // namespace xlsx_report
