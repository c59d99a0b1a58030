//! The tree's PIE as a separate library, for the tests of equality.

use sojourn_aqm::laws::pie::Pie;

sojourn_law::export_law!(Pie as "pie_rust");
