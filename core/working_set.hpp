// The dual variables of one example: one for gold, one for each rival that is kept.
#pragma once
#include <cstdint>
#include <vector>

#include "oracle.hpp"
#include "smo.hpp"

namespace margent {

class WorkingSet {
 public:
  // All of `total`, which is C times the weight of the example, is with gold.
  explicit WorkingSet(double total) : total_(total), gold_(total) {}

  std::size_t size() const { return members_.size(); }

  // Takes in the rivals of the last answer that it does not have yet.
  void extend(const Oracle& oracle, const Answer& answer) {
    for (std::size_t j = 0; j < answer.rivals.size(); ++j) {
      if (answer.rivals[j].errors == 0) continue;
      Member member{{}, answer.rivals[j].loss, 0};
      oracle.delta(j, member.delta);
      const auto same = [&](const Member& m) { return m.loss == member.loss && m.delta == member.delta; };
      if (std::none_of(members_.begin(), members_.end(), same)) members_.push_back(std::move(member));
    }
  }

  // Solves the dual over gold and the members (15, 16) and moves the weights along (9). Returns by how much the dual
  // objective rose. Members whose variable is zero leave. `limits.kappa` is a share of the total.
  double optimize(Oracle& oracle, SmoLimits limits) {
    if (members_.empty()) return 0;
    limits.kappa *= total_;
    const std::size_t m = members_.size() + 1;
    hinge_.assign(m, 0);
    values_.assign(m, gold_);
    for (std::size_t i = 1; i < m; ++i) {
      hinge_[i] = members_[i - 1].loss - oracle.score(members_[i - 1].delta);
      values_[i] = members_[i - 1].value;
    }
    double gained = 0;
    // Most sets that are looked at again are still optimal: inner products only for those that are not.
    if (violating_pair(hinge_, values_, limits)) {
      gram_.assign(m * m, 0);
      for (std::size_t i = 1; i < m; ++i) {
        std::vector<double>& products = members_[i - 1].products;
        for (std::size_t j = products.size(); j < i; ++j)
          products.push_back(dot(members_[i - 1].delta, members_[j].delta));
        for (std::size_t j = 1; j <= i; ++j) gram_[i * m + j] = gram_[j * m + i] = products[j - 1];
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
    std::vector<double> products = {};  // inner products with the members up to this one, as far as they were needed
  };

  void drop_zeros() {
    for (Member& member : members_) {
      std::size_t kept = 0;
      for (std::size_t j = 0; j < member.products.size(); ++j)
        if (members_[j].value != 0) member.products[kept++] = member.products[j];
      member.products.resize(kept);
    }
    std::erase_if(members_, [](const Member& member) { return member.value == 0; });
  }

  double total_, gold_;
  std::vector<Member> members_;
  // Not state: room that optimize uses again.
  static inline thread_local std::vector<double> gram_, hinge_, values_;
};

}  // namespace margent
