// What nodes of translations are split by: boundary words for a language model, or places in a given translation.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "forest/lazy_forest.hpp"
#include "translation/rule_use.hpp"

namespace margent {

// An option of a cube: a use of a rule, with what it scores without the language model, and expects with it.
struct RuleOption {
  RuleUse use;
  std::span<const std::int32_t> target;  // a word as it passes through: its own number
  double score = 0, bound = 0;
};

// What both kinds of states have in common. `language_weight`: that of the language model.
class TranslationStates {
 public:
  explicit TranslationStates(const TranslationSetup& setup) : setup_(&setup) {}
  void turn_to(std::int64_t sentence, double language_weight) {
    model_ = &setup_->model(sentence);
    language_weight_ = language_weight;
  }

  std::vector<RuleOption>& options() { return options_; }
  const std::vector<RuleOption>& options() const { return options_; }
  const RuleOption& option(std::int32_t number) const { return options_[static_cast<std::size_t>(number)]; }
  double bound(std::int32_t option) const { return this->option(option).bound; }
  double language_weight() const { return language_weight_; }

 protected:
  const TranslationSetup* setup_;
  const TargetModel* model_ = nullptr;
  double language_weight_ = 0;
  std::vector<RuleOption> options_;
};

// Paper 003, equation 5.1.
class LanguageStates : public TranslationStates {
 public:
  using State = BoundaryModel::State;
  using TranslationStates::TranslationStates;

  static bool allows(std::span<const std::int32_t>) { return true; }
  // What the language model adds to a use with these tails, and the state of the head.
  std::pair<double, State> extended(const RuleOption& option, std::span<const State* const> tails) const {
    BoundaryModel::Part part = model_->part();
    if (option.use.rule == goal) part.start();
    for (const std::int32_t symbol : option.target) {
      if (symbol >= 0)
        part.add(model_->word(symbol));
      else
        part.add(*tails[static_cast<std::size_t>(-symbol - 1)]);
    }
    if (option.use.rule != goal) return {part.log_probability(), part.state()};
    part.end();
    return {part.log_probability(), State{}};
  }
  // What is known of its words alone: of each stretch of them between nonterminals.
  double expected(std::span<const std::int32_t> target) const {
    double sum = 0;
    BoundaryModel::Part part = model_->part();
    for (const std::int32_t symbol : target) {
      if (symbol >= 0) {
        part.add(model_->word(symbol));
      } else {
        sum += part.log_probability();
        part = model_->part();
      }
    }
    return sum + part.log_probability();
  }
  template <class Emit>
  void combine(std::int32_t number, std::span<const State* const> tails, Emit emit) const {
    const RuleOption& option = this->option(number);
    const auto [log_probability, state] = extended(option, tails);
    emit(state, option.score + language_weight_ * log_probability);
  }
};

// Translations of a sentence that are right, as words one after the other.
struct References {
  std::span<const std::int64_t> ptr;  // [n + 1], where each begins
  const std::int32_t* words = nullptr;
  std::int32_t size() const { return static_cast<std::int32_t>(ptr.size()) - 1; }
  std::span<const std::int32_t> operator[](std::int32_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {words + ptr[at], static_cast<std::size_t>(ptr[at + 1] - ptr[at])};
  }
};

// Forced decoding (paper 003, Section 5.2.2): a language model over places of the reference, whose log-probability is 0
// if q = p + 1 and -inf otherwise. A node's state is the words begin to end - 1 of one of the references.
class ReferenceStates : public TranslationStates {
 public:
  struct State {
    std::int32_t reference = 0, begin = 0, end = 0;
    bool operator==(const State&) const = default;
    std::uint64_t hash() const {
      return mix((static_cast<std::uint64_t>(reference) << 48) ^ (static_cast<std::uint64_t>(begin) << 24) ^
                 static_cast<std::uint64_t>(end));
    }
  };
  using TranslationStates::TranslationStates;

  void turn_to(std::int64_t sentence, const References& references) {
    model_ = &setup_->model(sentence);
    references_ = references;
    places_.clear();
    alone_.clear();
    alone_ptr_.clear();
    whole_.clear();
    for (std::int32_t r = 0; r < references.size(); ++r) {
      const auto words = references[r];
      const auto n = static_cast<std::int32_t>(words.size());
      for (std::int32_t i = 0; i < n; ++i) places_.push_back({words[static_cast<std::size_t>(i)], {r, i, i + 1}});
      // log p of words begin to end - 1 without what comes before them: alone_[alone_ptr_[r] + begin * (n + 1) + end].
      alone_ptr_.push_back(alone_.size());
      for (std::int32_t begin = 0; begin <= n; ++begin) {
        BoundaryModel::Part part = model_->part();
        alone_.resize(alone_.size() + static_cast<std::size_t>(begin), 0.0);
        alone_.push_back(0);
        for (std::int32_t i = begin; i < n; ++i) {
          part.add(model_->word(words[static_cast<std::size_t>(i)]));
          alone_.push_back(part.log_probability());
        }
      }
      BoundaryModel::Part part = model_->part();
      part.start();
      for (const std::int32_t word : words) part.add(model_->word(word));
      part.end();
      whole_.push_back(part.log_probability());
    }
    std::ranges::sort(places_, [](const Place& a, const Place& b) {
      return std::tie(a.word, a.state.reference, a.state.begin) < std::tie(b.word, b.state.reference, b.state.begin);
    });
  }
  using TranslationStates::turn_to;

  // Whether all words are somewhere in a reference.
  bool allows(std::span<const std::int32_t> target) const {
    return std::ranges::all_of(target, [&](std::int32_t symbol) { return symbol < 0 || !places(symbol).empty(); });
  }
  double expected(std::span<const std::int32_t>) const { return 0; }
  // log p of the words of a state without what comes before them.
  double alone(const State& state) const {
    const auto n = static_cast<std::int32_t>(references_[state.reference].size());
    return alone_[alone_ptr_[static_cast<std::size_t>(state.reference)] +
                  static_cast<std::size_t>(state.begin * (n + 1) + state.end)];
  }
  template <class Emit>
  void combine(std::int32_t number, std::span<const State* const> tails, Emit emit) const {
    const RuleOption& option = this->option(number);
    const auto out = [&](const State& state) {
      double log_probability = alone(state);
      for (const State* tail : tails) log_probability -= alone(*tail);
      emit(state, option.score + language_weight_ * log_probability);
    };
    const std::int32_t first = option.target.front();
    if (first >= 0) {
      for (const Place& place : places(first)) {
        State state = place.state;
        if (follows(option, tails, state)) out(state);
      }
      return;
    }
    State state = *tails[static_cast<std::size_t>(-first - 1)];
    if (!follows(option, tails, state)) return;
    if (option.use.rule != goal) return out(state);
    const auto n = static_cast<std::int32_t>(references_[state.reference].size());
    if (state.begin == 0 && state.end == n) {
      const double log_probability = whole_[static_cast<std::size_t>(state.reference)] - alone(state);
      emit(State{}, option.score + language_weight_ * log_probability);
    }
  }
  double whole(std::int32_t reference) const { return whole_[static_cast<std::size_t>(reference)]; }

 private:
  struct Place {
    std::int32_t word;
    State state;
  };
  std::span<const Place> places(std::int32_t word) const {
    const auto found = std::ranges::equal_range(places_, word, {}, &Place::word);
    return {found.begin(), found.end()};
  }
  // Whether what the rule says after its first symbol follows the state; which then ends where that does.
  bool follows(const RuleOption& option, std::span<const State* const> tails, State& state) const {
    const auto words = references_[state.reference];
    for (const std::int32_t symbol : option.target.subspan(1)) {
      if (symbol >= 0) {
        if (state.end >= static_cast<std::int32_t>(words.size()) ||
            words[static_cast<std::size_t>(state.end)] != symbol)
          return false;
        ++state.end;
      } else {
        const State& tail = *tails[static_cast<std::size_t>(-symbol - 1)];
        if (tail.reference != state.reference || tail.begin != state.end) return false;
        state.end = tail.end;
      }
    }
    return true;
  }

  References references_;
  std::vector<Place> places_;
  std::vector<double> alone_, whole_;
  std::vector<std::size_t> alone_ptr_;
};

static_assert(ForestStates<LanguageStates> && ForestStates<ReferenceStates>);

}  // namespace margent
