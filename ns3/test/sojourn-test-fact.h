/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef SOJOURN_TEST_FACT_H
#define SOJOURN_TEST_FACT_H

#include "ns3/object-factory.h"
#include "ns3/simulator.h"
#include "ns3/sojourn-queue-disc.h"
#include "ns3/string.h"
#include "ns3/test.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// A test whose name states a fact and whose function checks it.
class SojournFact : public TestCase
{
  public:
    /// @param name the fact @param show checks it
    SojournFact(const std::string& name, std::function<void(SojournFact&)> show)
        : TestCase(name),
          m_show(std::move(show))
    {
    }

    /// Complains unless it holds. @param holds the condition @param what its description
    void Holds(bool holds, const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ(holds, true, what);
    }

    /// Complains unless both are equal. @param a one @param b the other @param what their
    /// description
    template <typename A, typename B>
    void Equal(const A& a, const B& b, const std::string& what)
    {
        NS_TEST_EXPECT_MSG_EQ(a, b, what);
    }

  private:
    void DoRun() override
    {
        m_show(*this);
        Simulator::Destroy();
    }

    std::function<void(SojournFact&)> m_show; //!< shows it
};

/**
 * @param attributes names and values
 * @return a disc of that type with them
 */
template <typename T = SojournQueueDisc>
Ptr<T>
MakeSojournDisc(const std::vector<std::pair<std::string, std::string>>& attributes)
{
    ObjectFactory factory(T::GetTypeId().GetName());
    for (const auto& [name, value] : attributes)
    {
        factory.Set(name, StringValue(value));
    }
    return factory.Create<T>();
}

/// A suite of facts.
class SojournFacts : public TestSuite
{
  public:
    /// Facts, and the functions that check them.
    using Facts = std::vector<std::pair<std::string, void (*)(SojournFact&)>>;

    /// @param name of the suite @param facts its facts
    SojournFacts(const std::string& name, const Facts& facts)
        : TestSuite(name)
    {
        for (const auto& [what, show] : facts)
        {
            AddTestCase(new SojournFact(what, show));
        }
    }
};

} // namespace ns3

#endif // SOJOURN_TEST_FACT_H
