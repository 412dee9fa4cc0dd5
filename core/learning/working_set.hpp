// The dual variables of one example: one for gold, one for each rival that is kept.
#pragma once
#include <cstdint>
#include <vector>

#include "learning/oracle.hpp"
#include "learning/smo.hpp"

namespace margent {

class WorkingSet {
 public:
  // Members share `total`, which is C times the weight of the example, with gold, which has all of it at first. It may
  // be infinite: then they grow as the margin asks for. `ridge` times the square of their sum, halved, is taken from
  // the objective: slack that is squared (paper 001, equation 21).
  explicit WorkingSet(double total, double ridge = 0) : total_(total), gold_(total), ridge_(ridge) {}

  std::size_t size() const { return members_.size(); }

  // Adds the rivals of the last answer that it does not have yet.
  void extend(const Oracle& oracle, const Reply& answer) {
    for (std::size_t j = 0; j < answer.rivals.size(); ++j)
      if (answer.rivals[j].errors) extend(oracle, j, answer.rivals[j].loss);
  }
  // Adds one rival of the last answer, which should lose by `loss`; false if it is there already.
  bool extend(const Oracle& oracle, std::size_t rival, double loss, bool keep_labels = false) {
    Member member{{}, loss, 0};
    oracle.delta(rival, member.delta);
    const auto same = [&](const Member& m) { return m.loss == member.loss && m.delta == member.delta; };
    if (std::any_of(members_.begin(), members_.end(), same)) return false;
    if (keep_labels) {
      const std::span<const std::int32_t> labels = oracle.labels(rival);
      member.labels.assign(labels.begin(), labels.end());
    }
    members_.push_back(std::move(member));
    return true;
  }

  // By how much the example may miss its margin, for the weights as they are.
  double slack(const Oracle& oracle) const {
    if (ridge_ > 0) return ridge_ * sum();
    double largest = 0;
    if (gold_ == 0)
      for (const Member& member : members_) largest = std::max(largest, member.loss - oracle.score(member.delta));
    return largest;
  }

  // Solves the dual over gold and the members (15, 16) and moves the weights along (9). Returns by how much the dual
  // objective rose. Members whose variable is zero leave. `limits.kappa` is a share of the total.
  double optimize(Oracle& oracle, SmoLimits limits) {
    if (members_.empty()) return 0;
    if (limits.kappa > 0) limits.kappa *= total_;
    const std::size_t m = members_.size() + 1;
    const double taken = ridge_ > 0 ? ridge_ * sum() : 0;
    hinge_.assign(m, 0);
    values_.assign(m, gold_);
    for (std::size_t i = 1; i < m; ++i) {
      hinge_[i] = members_[i - 1].loss - oracle.score(members_[i - 1].delta) - taken;
      values_[i] = members_[i - 1].value;
    }
    double gained = 0;
    // Most sets that are looked at again are still optimal: inner products only for those that are not.
    if (violating_pair(hinge_, values_, limits)) {
      gram_.assign(m * m, 0);
      for (std::size_t i = 1; i < m; ++i) {
        std::vector<double>& products = members_[i - 1].products;
        for (std::size_t j = products.size(); j < i; ++j)
          products.push_back(oracle.inner(members_[i - 1].delta, members_[j].delta));
        for (std::size_t j = 1; j <= i; ++j) gram_[i * m + j] = gram_[j * m + i] = products[j - 1] + ridge_;
      }
      gained = smo(gram_, hinge_, values_, limits);
    }
    for (std::size_t i = 1; i < m; ++i) {
      Member& member = members_[i - 1];
      if (values_[i] != member.value) oracle.add(member.delta, values_[i] - member.value);
      member.value = values_[i];
    }
    gold_ = values_[0];
    drop_zeros();
    return gained;
  }

  void add_to(std::int64_t example, std::vector<SupportSequence>& out) const {
    for (const Member& member :
         members_)  // one that has just joined when the training was interrupted has no value yet
      if (member.value != 0) out.push_back({example, member.value, member.labels});
  }

  // sum += the part of the weights that is due to this example.
  void add_to(SparseSum& sum) const {
    for (const Member& member : members_) sum.add(member.delta, member.value);
  }

  // Makes one member of the two with the smallest variables until no more than `limit` are left. It stands for the
  // mean of both, weighted by their variables: the weights and the dual objective stay as they are.
  void shrink(std::size_t limit) {
    while (members_.size() > std::max<std::size_t>(limit, 1)) {
      std::partial_sort(members_.begin(), members_.begin() + 2, members_.end(),
                        [](const Member& a, const Member& b) { return a.value < b.value; });
      Member& kept = members_[1];
      const Member& other = members_[0];
      const double total = kept.value + other.value, share = other.value / total;
      SparseVector mean;
      combine(1 - share, kept.delta, share, other.delta, mean);
      kept.delta = std::move(mean);
      kept.loss += share * (other.loss - kept.loss);
      kept.value = total;
      members_.erase(members_.begin());
      for (Member& member : members_) member.products.clear();
    }
  }

 private:
  struct Member {
    SparseVector delta;
    double loss, value;
    std::vector<std::int32_t> labels = {};  // where somebody wants to see them
    std::vector<double> products = {};  // inner products with the members up to this one, as far as they were needed
  };

  double sum() const {
    double total = 0;
    for (const Member& member : members_) total += member.value;
    return total;
  }

  void drop_zeros() {
    for (Member& member : members_) {
      std::size_t kept = 0;
      for (std::size_t j = 0; j < member.products.size(); ++j)
        if (members_[j].value != 0) member.products[kept++] = member.products[j];
      member.products.resize(kept);
    }
    std::erase_if(members_, [](const Member& member) { return member.value == 0; });
  }

  double total_, gold_, ridge_;
  std::vector<Member> members_;
  // Not state: room that optimize uses again.
  static inline thread_local std::vector<double> gram_, hinge_, values_;
};

// The working sets of all examples that have one, in the order in which they came.
class WorkingSets {
 public:
  std::size_t size() const { return sets_.size(); }
  WorkingSet& operator[](std::size_t place) { return sets_[place]; }
  std::int64_t example(std::size_t place) const { return examples_[place]; }

  // That of an example, or null.
  WorkingSet* find(std::int64_t example) {
    const std::size_t i = static_cast<std::size_t>(example);
    return i < place_.size() && place_[i] >= 0 ? &sets_[place_[i]] : nullptr;
  }
  // That of an example, made if there is none.
  WorkingSet& of(std::int64_t example, double total, double ridge = 0) {
    const std::size_t i = static_cast<std::size_t>(example);
    if (i >= place_.size()) place_.resize(i + 1, -1);
    if (place_[i] < 0) {
      place_[i] = static_cast<std::int64_t>(sets_.size());
      sets_.emplace_back(total, ridge);
      examples_.push_back(example);
    }
    return sets_[place_[i]];
  }

  // 1/2 |w|^2 of what was learned: weights that were there before do not count.
  double penalty(const Oracle& oracle) const {
    SparseSum sum;
    for (const WorkingSet& set : sets_) set.add_to(sum);
    return oracle.inner(sum.vector(), sum.vector()) / 2;
  }
  std::vector<SupportSequence> support() const {
    std::vector<SupportSequence> out;
    for (std::size_t i = 0; i < sets_.size(); ++i) sets_[i].add_to(examples_[i], out);
    return out;
  }

 private:
  std::vector<std::int64_t> place_;     // of the set of an example, or -1
  std::vector<std::int64_t> examples_;  // whose set it is
  std::vector<WorkingSet> sets_;
};

}  // namespace margent
