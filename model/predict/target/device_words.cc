#include "model/predict/target/device_words.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"

namespace cobra::predict {
namespace {

struct Word {
  absl::string_view in_device, architecture;
};
// The first that occurs counts.
constexpr Word kProcessors[] = {{"3a3000", "mips"},
                                {"3a4000", "mips"},
                                {"2k1000la", "loongarch"},
                                {"2k1000", "mips"},
                                {"loongson", "loongarch"},
                                {"sunway", "sunway"},
                                {"ingenic", "mips"},
                                {"c906", "riscv"},
                                {"c908", "riscv"},
                                {"c910", "riscv"},
                                {"c920", "riscv"},
                                {"spacemit", "riscv"},
                                {"risc-v", "riscv"},
                                {"xeon phi", "phi"},
                                {"intel", "x86"},
                                {"amd", "x86"},
                                {"aws", "x86"},
                                {"d64s ", "x86"}};
constexpr Word kGpus[] = {{"adreno", "adreno"}, {"mali", "mali"},           {"immortalis", "mali"}, {"jetson", "tegra"},
                          {"tegra", "tegra"},   {"geforce", "nvidia"},      {"quadro", "nvidia"},   {"rtx", "nvidia"},
                          {"tesla", "nvidia"},  {"nvidia", "nvidia"},       {"radeon", "amd"},      {"amd", "amd"},
                          {"intel", "intel"},   {"videocore", "videocore"}, {"powervr", "powervr"}, {"apple", "apple"}};

}  // namespace

std::string ArchitectureOf(const TargetSpec& spec) {
  const std::string device = absl::AsciiStrToLower(spec.device);
  const bool is_gpu = spec.kind == "gpu";
  for (const Word& word : is_gpu ? absl::Span<const Word>(kGpus) : absl::Span<const Word>(kProcessors)) {
    if (absl::StrContains(device, word.in_device)) return std::string(word.architecture);
  }
  if (is_gpu) return "other";
  return spec.vector_bits == 64 || absl::StrContains(device, "a17") ? "arm32" : "arm64";
}

std::string CoreOf(absl::string_view device) {
  // Some write a non-breaking hyphen.
  const std::string text = absl::StrReplaceAll(absl::AsciiStrToLower(device), {{"\xe2\x80\x91", "-"}});
  for (const absl::string_view before : {"cortex-a", "cortex a", "cortexa", "core a"}) {
    const size_t at = text.find(std::string(before));
    if (at == std::string::npos) continue;
    size_t end = at + before.size();
    while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
    if (end > at + before.size()) return "a" + text.substr(at + before.size(), end - at - before.size());
  }
  for (const absl::string_view core :
       {"kyro", "kryo", "zen", "kunpeng", "phytium", "loongson", "xeon phi", "sunway", "carmel"}) {
    if (absl::StrContains(text, core)) return std::string(core);
  }
  return "";
}

}  // namespace cobra::predict
