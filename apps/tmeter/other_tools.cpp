#include "apps/tmeter/other_tools.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>

#include "apps/tmeter/commands.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace tmeter::app {
namespace {
using namespace core;

/// Words of other tools with the same answer.
struct ForeignTerms {
  std::string_view words, replacement;
};

constexpr ForeignTerms kOptions[] = {
    {"-o --output --out --save --outfile --output-file --export",
     "--report FILE, as in --report report.json"},
    {"--outdir --output-dir", "--report FILE, as in --report out/report.json"},
    {"--json", "--report json"},
    {"--html", "--report html=report.html, or --open for the browser"},
    {"--show --browser --web", "--open"},
    {"--csv", "--report csv"},
    {"--xml", "--report xml"},
    {"--markdown --md", "--report markdown"},
    {"--xlsx --excel", "--report report.xlsx"},
    {"--graph --dot", "--report dot, or --open for a graph in the browser"},
    {"--format -f --output-format", "--report FORMAT, as in --report json"},
    {"--batch-size --batch", "--input 8x3x224x224, or --bind of a dynamic dimension"},
    {"--input-size --input-shape --input-res --shape --shapes --size --img-size",
     "--input 1x3x224x224"},
    {"--dtype --dtypes --precision --fp16 --half --bf16",
     "the type after the shape, as in --input 1x3x224x224:f16"},
    {"--list -l --ls", "`tmeter plugin list`, `tmeter hardware list`"},
    {"--list-plugins", "`tmeter plugin list`"},
    {"-m --model --file", "the file without an option: `tmeter model.pt2`"},
    {"--metrics --metric", "--plugins, and --columns for the table"},
    {"--col-names --fields --col", "--columns, as in --columns=params,macs"},
    {"--max-depth --level --levels -L", "--depth"},
    {"--module --layer --filter --select -k", "--root, as in --root layer1.0"},
    {"--top --limit --head", "--sort METRIC for the order of the rows, --depth for fewer"},
    {"--sort-by --order-by", "--sort"},
    {"--flops --macs", "--plugins=flops"},
    {"--params --parameters", "--plugins=params"},
    {"--memory --mem", "--plugins=memory"},
    {"--energy --power", "--plugins=energy"},
    {"--train --training --mode --backward", "--plugins=training"},
    {"--serve --serving", "--plugins=serving"},
    {"--run --benchmark --latency --time --throughput --infer --execute", "--inference"},
    {"--runs --iterations --iters --repeat --num-runs --warmup --warmups -n",
     "--run-for TIME with --inference: runs are repeated as often as the time allows"},
    {"--gpu --cuda", "--inference --device cuda"},
    {"--workers --jobs --num-threads --num-workers -j", "--threads"},
    {"--diff --compare --baseline", "`tmeter diff BEFORE AFTER`"},
    {"--check --fail-on --fail-if --budget", "--assert 'macs<=5G', or `tmeter budget`"},
    {"--exclude --skip --without", "--plugins=-NAME"},
    {"--no-color --no-colour --colors --colour", "--color, as in --color=never"},
    {"--ascii", "--set text.ascii=true"},
    {"--width --columns-width", "the variable COLUMNS, as in COLUMNS=80"},
    {"--bytes --units --precise --exact --plain", "--raw for plain numbers"},
    {"--silent", "--quiet"},
    {"--debug --log-level --loglevel", "--verbose"},
};

constexpr ForeignTerms kCommands[] = {
    {"analyze analyse summary summarize summarise inspect info describe stats stat view print load "
     "parse count measure estimate report",
     "`tmeter MODEL`"},
    {"run infer inference bench benchmark predict latency throughput time",
     "`tmeter MODEL --inference`"},
    {"profile perf trace", "`tmeter MODEL --profile`"},
    {"flops macs mac ops", "`tmeter MODEL --plugins=flops`"},
    {"params parameters weights", "`tmeter MODEL --plugins=params`"},
    {"memory mem", "`tmeter MODEL --plugins=memory`"},
    {"energy power", "`tmeter MODEL --plugins=energy`"},
    {"training train", "`tmeter MODEL --plugins=training`"},
    {"serving serve", "`tmeter MODEL --plugins=serving`"},
    {"compare cmp", "`tmeter diff BEFORE AFTER`"},
    {"check assert test verify", "`tmeter MODEL --assert 'macs<=5G'`, or `tmeter budget`"},
    {"export trace-model", "`python -m tmeter export timm:resnet50 -o model.pt2`"},
    {"convert", "`tmeter show REPORT.json --report FORMAT`; models are not converted"},
    {"open browse html web", "`tmeter MODEL --open`"},
    {"plugins formats list ls", "`tmeter plugin list`; `tmeter hardware list` for machines"},
    {"devices device gpus gpu machines machine", "`tmeter hardware list`"},
    {"man", "`tmeter manual | man -l -`"},
    {"sweep", "`tmeter MODEL --sweep SYMBOL=1,8,64`"},
    {"batch many", "`tmeter fleet FILES...`"},
};

std::string_view find_word(std::span<const ForeignTerms> table, std::string_view word) {
  for (const auto& entry : table) {
    for (size_t at = 0; at < entry.words.size();) {
      const auto end = std::min(entry.words.find(' ', at), entry.words.size());
      if (entry.words.substr(at, end - at) == word) return entry.replacement;
      at = end + 1;
    }
  }
  return {};
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// "`tmeter MODEL`" with the file that was given.
std::string with_model(std::string text, const std::vector<std::string>& operands) {
  const auto at = text.find("MODEL");
  if (at != text.npos && operands.size() > 1) text.replace(at, 5, printable(operands[1]));
  return text;
}

void refuse_command(const std::vector<std::string>& operands) {
  const auto& word = operands.front();
  const auto replacement = find_word(kCommands, word);
  const auto meant = operands.size() > 1 && word.find_first_of("./") == word.npos
                         ? did_you_mean(word, command_names())
                         : std::string();
  if (replacement.empty() && meant.empty()) return;
  throw Error(
      ErrorKind::kUsage,
      "there is no command '" + printable(word) + "'" +
          (replacement.empty() ? meant
                               : "; here it is " + with_model(std::string(replacement), operands)));
}

/// The option for a word that is not a file; empty: none is known. `lists`: an
/// option with a list of names is given.
std::string option_of(const std::string& operand, bool lists) {
  static const std::vector<std::string_view> kFormats{"json", "html", "csv", "tsv", "markdown",
                                                      "text", "xlsx", "xml", "dot"};
  if (operand.find_first_of("<>=") != operand.npos)
    return "each bound has an option of its own: --assert '" + operand + "'";
  if (operand.find_first_not_of("0123456789x,:") == operand.npos)
    return "a shape is one word after --input, as in --input 1x3x224x224";
  if (std::find(kFormats.begin(), kFormats.end(), operand) != kFormats.end())
    return "a format is given with --report " + operand;
  static const std::vector<std::string_view> kUnits{"KB",  "MB",  "GB", "TB", "KiB", "MiB",
                                                    "GiB", "TiB", "s",  "ms", "min", "h"};
  if (std::find(kUnits.begin(), kUnits.end(), operand) != kUnits.end())
    return "a number and its unit are one word, as in 8GB";
  if (lists && operand.find_first_not_of("abcdefghijklmnopqrstuvwxyz-_") == operand.npos)
    return "names are separated by commas without spaces, as in --plugins=params,flops";
  return {};
}

}  // namespace

std::string option_replacement(std::string_view option) {
  std::string name(option);  // "--input_size" is "--input-size"
  std::replace(name.begin(), name.end(), '_', '-');
  const auto replacement = find_word(kOptions, name);
  return replacement.empty() ? std::string() : "; here it is " + std::string(replacement);
}

void refuse_foreign_terms(const std::vector<std::string>& operands, bool lists) {
  if (operands.empty()) return;
  if (!is_there(operands.front())) refuse_command(operands);
  for (size_t i = 1; i < operands.size(); ++i) {
    if (is_there(operands[i])) continue;
    if (const auto advice = option_of(operands[i], lists); !advice.empty())
      throw Error(ErrorKind::kUsage, "'" + printable(operands[i]) + "' is not a file; " + advice);
  }
}

}  // namespace tmeter::app
