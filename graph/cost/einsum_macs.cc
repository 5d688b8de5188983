// torch.einsum as ATen runs it without opt_einsum. All operands get the same dimensions, first
// those of the output, then those that are summed; a letter that an operand lacks has size 1 there.
// Then the first two operands become one, until one is left. What only one of the two has, and no
// later operand, is summed before. What both have, and no later one, is the inner dimension of a
// batched matrix product; without any, the two are multiplied element by element.
#include <algorithm>
#include <array>
#include <cstddef>

#include "graph/cost/macs.h"
#include "graph/saturated.h"

namespace cobra::graph {
namespace {

constexpr size_t kLetters = 128;  // of ASCII
constexpr size_t kDotsLength = 3;

// Where the dimensions of letters and of the ellipsis are among the common ones.
struct Places {
  std::array<int, kLetters> letter;  // -1: in no term
  int dots = 0, num_dots = 0;        // the first dimension of the ellipsis, and how many it has
  int num_output = 0;                // so many are in the output, and come first
  int num = 0;
};

// A term: its letters in order, with the place of "..." among them.
struct Term {
  std::string letters;
  size_t dots = std::string::npos;
  int num_dots = 0;
};

std::vector<Term> TermsOf(const std::string& left, const std::vector<const TensorType*>& in) {
  std::vector<Term> terms;
  size_t begin = 0;
  while (terms.size() < in.size() && begin <= left.size()) {
    const size_t end = std::min(left.find(',', begin), left.size());
    Term term{left.substr(begin, end - begin)};
    term.dots = term.letters.find("...");
    if (term.dots != std::string::npos) {
      term.letters.erase(term.dots, kDotsLength);
      term.num_dots = std::max(0, in[terms.size()]->rank() - static_cast<int>(term.letters.size()));
    }
    terms.push_back(std::move(term));
    begin = end + 1;
  }
  return terms;
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// The places of the letters of the output. Without "->" they are those that occur once in all,
// behind the ellipsis.
void PlaceOutput(const std::string& equation, const std::array<int, kLetters>& uses, Places* places) {
  const size_t arrow = equation.find("->");
  bool has_dots = arrow == std::string::npos;
  if (has_dots) {
    places->num = places->num_dots;
    for (size_t c = 0; c < kLetters; ++c) {
      if (uses[c] == 1) places->letter[c] = places->num++;
    }
  } else {
    const std::string right = equation.substr(arrow + 2);
    for (size_t i = 0; i < right.size(); ++i) {
      if (IsLetter(right[i])) places->letter[static_cast<size_t>(right[i])] = places->num++;
      if (right.compare(i, kDotsLength, "...") != 0) continue;
      has_dots = true;
      places->dots = places->num;
      places->num += places->num_dots;
    }
  }
  places->num_output = places->num;
  if (has_dots) return;
  places->dots = places->num;
  places->num += places->num_dots;
}

Places PlacesOf(const std::string& equation, const std::vector<Term>& terms) {
  Places places;
  places.letter.fill(-1);
  std::array<int, kLetters> uses{};
  for (char c : equation.substr(0, equation.find("->"))) {
    if (IsLetter(c)) ++uses[static_cast<size_t>(c)];
  }
  for (const Term& term : terms) places.num_dots = std::max(places.num_dots, term.num_dots);
  PlaceOutput(equation, uses, &places);
  for (size_t c = 0; c < kLetters; ++c) {
    if (uses[c] > 0 && places.letter[c] < 0) places.letter[c] = places.num++;
  }
  return places;
}

using Sizes = std::vector<int64_t>;  // of the common dimensions

// A letter that a term has twice stands for a diagonal, which is one dimension.
Sizes Aligned(const Term& term, const TensorType& type, const Places& places) {
  Sizes sizes(static_cast<size_t>(places.num), 1);
  size_t dim = 0;
  for (size_t i = 0; i <= term.letters.size(); ++i) {
    for (int j = 0; i == term.dots && j < term.num_dots; ++j) {  // the last of them are the same in all operands
      if (dim < type.shape.size())
        sizes[static_cast<size_t>(places.dots + places.num_dots - term.num_dots + j)] = type.shape[dim++];
    }
    if (i == term.letters.size() || dim >= type.shape.size()) continue;
    const auto letter = static_cast<size_t>(term.letters[i]);
    if (letter < kLetters && places.letter[letter] >= 0)
      sizes[static_cast<size_t>(places.letter[letter])] = type.shape[dim];
    ++dim;
  }
  return sizes;
}

int64_t Elements(const Sizes& sizes) {
  int64_t elements = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;  // also where the other sizes are beyond all measure
    elements = Times(elements, size);
  }
  return elements;
}

// Contracts `b` into `a`. counts: how many operands that are left have more than one element along
// a dimension.
void Contract(const Places& places, Sizes b, std::vector<int>* counts, Sizes* a, EinsumWork* work) {
  std::vector<size_t> inner, only_a, only_b;
  for (auto dim = static_cast<size_t>(places.num_output); dim < a->size(); ++dim) {
    int& count = (*counts)[dim];
    if ((*a)[dim] != 1 && b[dim] != 1) {
      if (--count != 1) continue;
      inner.push_back(dim);
    } else if (count == 1 && (*a)[dim] != b[dim]) {
      ((*a)[dim] != 1 ? only_a : only_b).push_back(dim);
    } else {
      continue;
    }
    count = 0;
  }
  const auto sum = [work](const std::vector<size_t>& dims, Sizes* of) {
    if (!dims.empty()) work->elementwise = Plus(work->elementwise, Elements(*of));
    for (size_t dim : dims) (*of)[dim] = 1;
  };
  sum(only_a, a);
  sum(only_b, &b);
  for (size_t dim = 0; dim < a->size(); ++dim) {
    if ((*a)[dim] == 1) (*a)[dim] = b[dim];
  }
  int64_t& done = inner.empty() ? work->elementwise : work->macs;
  done = Plus(done, Elements(*a));
  for (size_t dim : inner) (*a)[dim] = 1;
}

}  // namespace

EinsumWork EinsumWorkOf(const std::string& spaced, const std::vector<const TensorType*>& in) {
  std::string equation = spaced;
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  const std::vector<Term> terms = TermsOf(equation.substr(0, equation.find("->")), in);
  const Places places = PlacesOf(equation, terms);
  EinsumWork work;
  if (terms.empty()) return work;
  std::vector<int> counts(static_cast<size_t>(places.num), 0);
  std::vector<Sizes> operands;
  for (size_t i = 0; i < terms.size(); ++i) {
    operands.push_back(Aligned(terms[i], *in[i], places));
    for (size_t dim = 0; dim < counts.size(); ++dim) counts[dim] += operands[i][dim] != 1 ? 1 : 0;
  }
  Sizes& left = operands[0];
  if (operands.size() == 1) {  // a view, or a sum
    const bool sums = std::any_of(left.begin() + places.num_output, left.end(), [](int64_t size) { return size != 1; });
    work.elementwise = sums ? Elements(left) : 0;
  }
  for (size_t i = 1; i < operands.size(); ++i) Contract(places, operands[i], &counts, &left, &work);
  return work;
}

}  // namespace cobra::graph
